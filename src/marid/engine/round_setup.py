"""What one round is made of: the conversation, its settings, the model and the prompt."""

import re
from typing import NamedTuple

from marid.core.errors import BadInput
from marid.core.model_io import ModelInfo, Parameters
from marid.core.settings.values import Settings
from marid.engine.prompt_entries import RoundPrompt
from marid.ports.model import Model

_NON_CHAT_TYPES = ("embedding", "embeddings")
_NON_CHAT_NAME = re.compile(r"embed|rerank|whisper|\btts\b|moderation", re.IGNORECASE)


class RoundSetup(NamedTuple):
    """The parts of one round. `conversation` is its name; without a `prompt` the last round is continued.

    `model_name` is "" if the settings leave it to the provider. `source` is stored with a conversation that the round
    creates. `lock_timeout` is how many seconds to wait for a conversation that is in use. `notes` are for the user.
    """

    conversation: str
    prompt: RoundPrompt | None
    settings: Settings
    model: Model
    model_name: str
    parameters: Parameters
    fallback_tool: str
    source: str = ""
    lock_timeout: float = 0.0
    notes: tuple[str, ...] = ()


async def ensure_model(setup: RoundSetup) -> RoundSetup:
    """Choose the first model that the provider offers if the settings name none: most local services have only one.

    Models that embed, rerank or transcribe are skipped, unless there are no others.

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
    return str(info.more.get("type", "")).lower() not in _NON_CHAT_TYPES and not _NON_CHAT_NAME.search(info.id)
