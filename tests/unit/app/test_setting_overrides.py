from pathlib import Path

import pytest

from fakes.spoken import workbench
from marid.app.setting_overrides import with_overrides
from marid.core.errors import BadInput


def test_settings_count_for_whoever_asks_and_for_every_conversation(tmp_path: Path) -> None:
    app = with_overrides(workbench(tmp_path), {"fuel": 7, "api.seed": "3"})
    assert (
        app.settings.conversation.fuel,
        app.resolve("x", {}).settings.conversation.fuel,
        app.settings.model.api["seed"],
    ) == (7, 7, 3)
    assert app.resolve("x", {"fuel": 8}).settings.conversation.fuel == 8


def test_without_settings_it_is_the_same(tmp_path: Path) -> None:
    app = workbench(tmp_path)
    assert with_overrides(app, {}) is app


def test_settings_that_make_no_sense_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="fuel"):
        with_overrides(workbench(tmp_path), {"fuel": "much"})


def test_the_home_of_a_conversation_stays_where_it_is(tmp_path: Path) -> None:
    assert with_overrides(workbench(tmp_path), {"fuel": 7}).settings.home == str(tmp_path / "home")
