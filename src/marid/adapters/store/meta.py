"""`context_meta.json`: what is known of a conversation; the fields of others, Chibi's too, survive."""

from typing import TypeGuard, cast

from marid.adapters.store.atomic_files import parse_object, pretty_json, read_bytes, require_object, write_atomic
from marid.adapters.store.layout import ConversationPaths
from marid.core.conversation.records import ConversationMeta

_TEXT_FIELDS = ("id", "title", "provider", "model", "source", "owner")
_MAX_TIME = 10**14
_TIME_FIELDS = {"createdAt": "created_ms", "lastMessageAt": "last_message_ms", "archivedAt": "archived_ms"}


def load(paths: ConversationPaths) -> ConversationMeta:
    """What the file says, without an id when nobody has given one yet. Raises: OSError.

    One that cannot be read counts as empty: who reads a conversation needs nothing of it.
    """
    return _meta_from(paths, parse_object(read_bytes(paths.meta) or b"") or {})


def load_strict(paths: ConversationPaths) -> ConversationMeta:
    """As `load`, for whoever will write it again: what is in a damaged one would be lost. Raises: OSError; Corrupt."""
    data = (read_bytes(paths.meta) or b"").strip()
    return _meta_from(paths, require_object(paths.meta, data) if data else {})


def _meta_from(paths: ConversationPaths, fields: dict[str, object]) -> ConversationMeta:
    found: dict[str, object] = {}
    for name in _TEXT_FIELDS:
        if isinstance(value := fields.get(name), str):
            found[name] = value
            del fields[name]
    for name, attribute in _TIME_FIELDS.items():
        if is_time(value := fields.get(name)):
            found[attribute] = value
            del fields[name]
    if isinstance(flags := fields.get("flags"), dict):
        found["flags"] = cast("dict[str, object]", flags)
        del fields["flags"]
    seconds = fields.get("created_at")
    if "created_ms" not in found and is_time(seconds):
        found["created_ms"] = seconds * 1000
    return ConversationMeta(id="", name=paths.name, extra=fields)._replace(**found)


def is_time(value: object) -> TypeGuard[int]:
    """Whether a number can be a moment: others make every clock stumble."""
    return type(value) is int and 0 <= value < _MAX_TIME


def save(paths: ConversationPaths, meta: ConversationMeta) -> None:
    """Write it whole. Raises: OSError."""
    fields: dict[str, object] = {**meta.extra}
    for name in _TEXT_FIELDS:
        if name != "owner" or meta.owner:
            fields[name] = getattr(meta, name)
    fields["flags"] = dict(meta.flags)
    for name, attribute in _TIME_FIELDS.items():
        if value := getattr(meta, attribute):
            fields[name] = value
    write_atomic(paths.meta, pretty_json(fields))
