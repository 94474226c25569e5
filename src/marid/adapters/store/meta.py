"""`context_meta.json`: the metadata of a conversation. Fields of other programs, such as Chibi, are preserved."""

from typing import cast

from marid.adapters.store.files import is_time, parse_object, pretty_json, read_bytes, require_object, write_atomic
from marid.adapters.store.layout import ConversationPaths
from marid.core.conversation.records import ConversationMeta

_TEXT_FIELDS = ("id", "title", "provider", "model", "source", "owner")
_TIME_FIELDS = {"createdAt": "created_ms", "lastMessageAt": "last_message_ms", "archivedAt": "archived_ms"}


def load(paths: ConversationPaths) -> ConversationMeta:
    """The metadata, without an id if the conversation has none yet. Raises: OSError.

    A damaged file counts as empty: reading a conversation does not need it.
    """
    return _meta_from(paths, parse_object(read_bytes(paths.meta)) or {})


def load_strict(paths: ConversationPaths) -> ConversationMeta:
    """As `load`, before a write, which would lose the content of a damaged file. Raises: OSError; Corrupt."""
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


def save(paths: ConversationPaths, meta: ConversationMeta) -> None:
    """Replace the file. Raises: OSError."""
    fields: dict[str, object] = {**meta.extra}
    for name in _TEXT_FIELDS:
        if name != "owner" or meta.owner:
            fields[name] = getattr(meta, name)
    fields["flags"] = dict(meta.flags)
    for name, attribute in _TIME_FIELDS.items():
        if value := getattr(meta, attribute):
            fields[name] = value
    write_atomic(paths.meta, pretty_json(fields))
