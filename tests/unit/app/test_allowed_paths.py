"""The user's own file is changed as a careful person would: comments and unknown keys stay."""

from pathlib import Path

import pytest

from fakes.means import Outside
from marid.app.allowed_paths import allow, forget, list_allowed
from marid.app.app import App
from marid.core.errors import NotFound, Unavailable
from marid.core.settings.values import Settings, make_settings


@pytest.fixture
def app(tmp_path: Path) -> App:
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return Outside().app(str(tmp_path / "project"), Settings(home=str(tmp_path / "home")))


def test_comments_and_unknown_keys_stay(app: App, tmp_path: Path) -> None:
    config = tmp_path / "home" / "config.toml"
    config.write_text('# mine\nmodel = "x"   # a later part\n\n[policy]\nwrite = "ask"\n')
    place = allow(app, "../project")
    text = config.read_text()
    assert '# mine\nmodel = "x"   # a later part\n' in text
    assert f'files = ["{place}"]' in text
    assert text.index("files") < text.index("[policy]")


def test_a_second_path_is_added_and_the_same_is_not(app: App, tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "b").touch()
    for path in ("../a", "../b", "../a"):
        allow(app, path)
    assert (tmp_path / "home" / "config.toml").read_text().count(str(tmp_path)) == 2


def test_the_key_of_a_chibi_home_is_kept(app: App, tmp_path: Path) -> None:
    config = tmp_path / "home" / "config.toml"
    config.write_text('file_tools_allowed_paths = ["/srv"]\n')
    allow(app, "../project")
    assert config.read_text().startswith("file_tools_allowed_paths = [")
    assert "/srv" in config.read_text()


def test_what_was_allowed_can_be_taken_back(app: App, tmp_path: Path) -> None:
    place = allow(app, "../project")
    app = app._replace(settings=make_settings(app.settings.home, files=(place,)))
    assert list_allowed(app) == (place,)
    assert forget(app, "../project") == place
    assert place not in (tmp_path / "home" / "config.toml").read_text()
    with pytest.raises(NotFound):
        forget(app, "../home")


def test_a_home_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    app = Outside().app(str(tmp_path), Settings(home=str(tmp_path / "file" / "home")))
    with pytest.raises(Unavailable, match=r"config\.toml cannot be written"):
        allow(app, "file")
