from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest

from fakes.model import FakeModel
from fakes.real_app import real_scope
from marid.app.app import RequestScope
from marid.app.rounds import RoundRequest, prepare_round
from marid.core.conversation.records import Conflict
from marid.core.errors import BadInput
from marid.core.model_io import ModelInfo
from marid.core.settings.values import Settings
from marid.engine.round_factory import RoundSetup, ensure_model
from marid.ports.model import Model


def prepared(scope: RequestScope, conversation: str, overrides: Mapping[str, object], **how: Any) -> RoundSetup:
    name = scope.stores.conversations.resolve_name(conversation)
    return prepare_round(scope.within(name, overrides), RoundRequest(prompt="hi", conversation=name, **how), name)


def test_with_nothing_set_the_model_is_offline(tmp_path: Path) -> None:
    stage = prepared(real_scope(tmp_path), "c", {})
    assert (stage.conversation, stage.model.provider, stage.model_name, stage.fallback_tool) == (
        "c",
        "offline",
        "offline",
        "call_user",
    )
    assert not (tmp_path / "home/contexts").exists()


def test_a_conversation_is_found_by_its_id_and_has_its_own_settings(tmp_path: Path) -> None:
    scope = real_scope(tmp_path, FakeModel())
    known = scope.stores.conversations.create("c")
    (tmp_path / "home/contexts/c/local.toml").write_text('model = "own"\nfuel = 7\n')
    stage = prepared(scope, known.id, {"username": "anna"})
    assert (
        stage.conversation,
        stage.model_name,
        stage.settings.conversation.fuel,
        stage.settings.conversation.username,
    ) == ("c", "own", 7, "anna")
    with pytest.raises(Conflict):
        scope.stores.conversations.create("c")


class Offering(FakeModel):
    """Offers these models."""

    def __init__(self, *names: str, **kinds: str) -> None:
        super().__init__()
        self._names = names
        self._kinds = kinds

    async def models(self) -> tuple[ModelInfo, ...]:
        known = {name: {"type": self._kinds[name]} if name in self._kinds else {} for name in self._names}
        return tuple(ModelInfo(id=name, provider="fake", more=more) for name, more in known.items())


def test_without_the_name_of_a_model_it_is_the_first_that_is_offered(tmp_path: Path) -> None:
    stage = anyio.run(ensure_model, prepared(real_scope(tmp_path, Offering("first", "second")), "c", {}))
    assert stage.model_name == "first"
    assert stage.notes == ("no model is set: 'first' is the first that 'fake' offers",)


@pytest.mark.parametrize("mute", ["text-embedding-3-small", "bge-reranker", "whisper-1", "gpt-4o-mini-tts", "nomic"])
def test_one_that_cannot_answer_is_passed_over(tmp_path: Path, mute: str) -> None:
    offering = Offering(mute, "talks", nomic="embeddings")
    stage = anyio.run(ensure_model, prepared(real_scope(tmp_path, offering), "c", {}))
    assert stage.model_name == "talks"
    assert stage.notes == ("no model is set: 'talks' is the first for conversations that 'fake' offers",)
    alone = anyio.run(ensure_model, prepared(real_scope(tmp_path, Offering(mute)), "c", {}))
    assert alone.model_name == mute


def test_one_that_is_set_is_not_looked_for(tmp_path: Path) -> None:
    stage = prepared(real_scope(tmp_path, Offering("first")), "c", {"model": "own"})
    assert anyio.run(ensure_model, stage) is stage


def test_a_provider_that_offers_nothing_needs_a_name(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'fake' offers none"):
        anyio.run(ensure_model, prepared(real_scope(tmp_path, Offering()), "c", {}))


def test_what_cannot_be_a_name_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    for name in ("", "../x", "system", "a" * 101):
        with pytest.raises(BadInput):
            prepared(real_scope(tmp_path), name, {})
    assert not (tmp_path / "home/contexts").exists()


def test_the_word_falls_to_who_is_forced_else_to_whom_the_settings_say(tmp_path: Path) -> None:
    scope = real_scope(tmp_path)
    assert prepared(scope, "c", {"fallback_tool": "call_agent"}).fallback_tool == "call_agent"
    assert prepared(scope, "c", {"fallback_tool": "call_agent"}, force="user").fallback_tool == "call_user"
    assert prepared(scope, "c", {}, force="agent").fallback_tool == "call_agent"
    with pytest.raises(BadInput, match="'user' or 'agent'"):
        prepared(scope, "c", {}, force="nobody")
    with pytest.raises(BadInput, match="fallback_tool"):
        prepared(scope, "c", {"fallback_tool": "read_file"})


def test_logs_are_kept_beside_the_conversation(tmp_path: Path) -> None:
    files: list[dict[str, str]] = []

    def chosen(settings: Settings, logs: Mapping[str, str]) -> Model:
        files.append(dict(logs))
        return FakeModel()

    scope = real_scope(tmp_path)
    scope = scope._replace(app=scope.app._replace(model=chosen))
    flags = {"model": "m"}
    for debug in (frozenset[str](), {"request-log", "response-meta", "force-markdown"}):
        prepared(scope, "c", flags, debug=frozenset(debug))
    folder = tmp_path / "home/contexts/c"
    logs = {"request": str(folder / "requests.jsonl"), "response": str(folder / "response_meta.jsonl")}
    assert files == [{}, logs]
