"""What a round stands on: the conversation's own settings, store and model, resolved before anything is opened."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from marid.app.app import RequestScope
from marid.app.conversation_stores import ConversationStores
from marid.app.round_request import RoundRequest
from marid.core.conversation.entry import TO_AGENT, TO_USER
from marid.core.errors import BadInput
from marid.core.model_io import ModelInfo, Parameters
from marid.core.settings.values import Settings
from marid.ports.model import Model

_OFFLINE = "offline"
_SPEAKER_TOOLS: Mapping[str, str] = {"user": TO_USER, "agent": TO_AGENT}
_NON_CHAT_TYPES = ("embedding", "embeddings")
_NON_CHAT_NAME = re.compile(r"embed|rerank|whisper|\btts\b|moderation", re.IGNORECASE)
_LOGS = {"request-log": ("request", "requests.jsonl"), "response-meta": ("response", "response_meta.jsonl")}


class RoundSetup(NamedTuple):
    """`name` is the conversation's, `model_name` the model's, empty where the settings leave it to the provider.

    `notes` are what the person should know.
    """

    conversation: str
    settings: Settings
    stores: ConversationStores
    model: Model
    model_name: str
    parameters: Parameters
    fallback_tool: str
    notes: tuple[str, ...]


def prepare_round(scope: RequestScope, request: RoundRequest) -> RoundSetup:
    """Of a request. Reads settings, so call it in a thread. Nothing is made.

    Raises: BadInput; Unavailable.
    """
    stores = scope.stores
    name = stores.conversations.resolve_name(request.conversation)
    settings, _, notes = scope.within(name).resolve()
    logs = {kind: stores.files.log_file(name, file) for word, (kind, file) in _LOGS.items() if word in request.debug}
    model = scope.app.model(settings, logs)
    return RoundSetup(
        conversation=name,
        settings=settings,
        stores=stores,
        model=model,
        model_name=_OFFLINE if model.provider == _OFFLINE else settings.model.name,
        parameters=Parameters.from_table(settings.model.api),
        fallback_tool=_fallback_tool(settings, request.force),
        notes=notes,
    )


async def ensure_model(setup: RoundSetup) -> RoundSetup:
    """With the first model that the provider offers, where the settings name none: most local services have only one.

    Those that only measure or hear words are passed over, unless there are no others.

    Raises: BadInput when it offers none; Refused; Unavailable.
    """
    if setup.model_name:
        return setup
    offered = await setup.model.models()
    if not offered:
        raise BadInput(f"no model is set, and '{setup.model.provider}' offers none: set `model`")
    name = next(filter(_is_chat_model, offered), offered[0]).id
    kind = "" if name == offered[0].id else " for conversations"
    note = f"no model is set: '{name}' is the first{kind} that '{setup.model.provider}' offers"
    return setup._replace(model_name=name, notes=(*setup.notes, note))


def _is_chat_model(info: ModelInfo) -> bool:
    """Whether a model is there to answer, by what the list and its name say."""
    return str(info.more.get("type", "")).lower() not in _NON_CHAT_TYPES and not _NON_CHAT_NAME.search(info.id)


def _fallback_tool(settings: Settings, force: str) -> str:
    if force and force not in _SPEAKER_TOOLS:
        raise BadInput(f"the word can be forced to 'user' or 'agent', not to '{force}'")
    return _SPEAKER_TOOLS.get(force, settings.conversation.fallback_tool)
