"""Names that may have been meant."""

from pathlib import Path

from marid.workspace.find.suggestions import closest_names, not_found_error
from marid.workspace.guard.api import PathScope


def test_the_nearest_names_in_the_folder_are_told(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("settings.py", "Other.md"):
        (tmp_path / "src" / name).touch()
    place = PathScope([str(tmp_path)]).resolve("src/setting.py")
    assert str(not_found_error(place, "src/setting.py")) == "src/setting.py: not found; similar: settings.py"
    place = PathScope([str(tmp_path)]).resolve("src/zzz")
    assert str(not_found_error(place, "src/zzz")) == "src/zzz: not found"


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    place = PathScope([str(tmp_path)]).resolve("no/such")
    assert str(not_found_error(place, "no/such")) == "no/such: not found, and neither is its folder"


def test_case_is_no_difference_and_names_are_shown_safely() -> None:
    assert closest_names("readme.md", ["README.md", "x"]) == ["README.md"]
    assert closest_names("a\nb", ["a\nbc"]) == ['"a\\nbc"']
