"""The user's own file is changed as a careful person would: comments and unknown keys stay."""

from pathlib import Path

import pytest

from fakes.apps import AppFakes
from marid.app.allowed_paths import allow, forget, list_allowed
from marid.app.app import RequestScope
from marid.core.errors import NotFound, Unavailable
from marid.core.settings.values import Settings, make_settings


@pytest.fixture
def scope(tmp_path: Path) -> RequestScope:
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return AppFakes().scope(str(tmp_path / "project"), Settings(home=str(tmp_path / "home")))


def test_comments_and_unknown_keys_stay(scope: RequestScope, tmp_path: Path) -> None:
    config = tmp_path / "home" / "config.toml"
    config.write_text('# mine\nmodel = "x"   # a later part\n\n[policy]\nwrite = "ask"\n')
    place = allow(scope, "../project")
    text = config.read_text()
    assert '# mine\nmodel = "x"   # a later part\n' in text
    assert f'files = ["{place}"]' in text
    assert text.index("files") < text.index("[policy]")


def test_a_second_path_is_added_and_the_same_is_not(scope: RequestScope, tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    for path in ("../a", "../b", "../a"):
        allow(scope, path)
    assert (tmp_path / "home" / "config.toml").read_text().count(str(tmp_path)) == 2


def test_the_key_of_a_chibi_home_is_kept(scope: RequestScope, tmp_path: Path) -> None:
    config = tmp_path / "home" / "config.toml"
    config.write_text('file_tools_allowed_paths = ["/srv"]\n')
    allow(scope, "../project")
    assert config.read_text().startswith("file_tools_allowed_paths = [")
    assert "/srv" in config.read_text()


def test_what_was_allowed_can_be_taken_back(scope: RequestScope, tmp_path: Path) -> None:
    place = allow(scope, "../project")
    scope = AppFakes().scope(scope.cwd, make_settings(scope.home, files=(place,)))
    assert list_allowed(scope) == (place,)
    assert forget(scope, "../project") == place
    assert place not in (tmp_path / "home" / "config.toml").read_text()
    with pytest.raises(NotFound):
        forget(scope, "../home")


def test_a_home_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    scope = AppFakes().scope(str(tmp_path), Settings(home=str(tmp_path / "file" / "home")))
    with pytest.raises(Unavailable, match=r"config\.toml cannot be written"):
        allow(scope, "file")
