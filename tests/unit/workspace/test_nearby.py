"""Names that may have been meant."""

from pathlib import Path

from marid.workspace.guard import Territory
from marid.workspace.nearby import missing, nearest


def test_the_nearest_names_in_the_folder_are_told(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("settings.py", "Other.md"):
        (tmp_path / "src" / name).touch()
    place = Territory([str(tmp_path)]).place("src/setting.py")
    assert str(missing(place, "src/setting.py")) == "'src/setting.py' is not there; near it: settings.py"
    place = Territory([str(tmp_path)]).place("src/zzz")
    assert str(missing(place, "src/zzz")) == "'src/zzz' is not there"


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    place = Territory([str(tmp_path)]).place("no/such")
    assert str(missing(place, "no/such")) == "'no/such' is not there, nor is its folder"


def test_case_is_no_difference_and_names_are_shown_safely() -> None:
    assert nearest("readme.md", ["README.md", "x"]) == ["README.md"]
    assert nearest("a\nb", ["a\nbc"]) == ['"a\\nbc"']
