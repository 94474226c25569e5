"""`context_meta.json`: what is known of a conversation; the fields of others, Chibi's too, survive."""

from typing import TypeGuard, cast

from marid.adapters.store.files import as_object, object_in, pretty, read_bytes, write_whole
from marid.adapters.store.layout import Place
from marid.core.conversation import Meta

_TEXTS = ("id", "title", "provider", "model", "source")
_NEVER = 10**14
_TIMES = {"createdAt": "created_ms", "lastMessageAt": "last_message_ms", "archivedAt": "archived_ms"}


def load(place: Place) -> Meta:
    """What the file says, without an id when nobody has given one yet. Raises: OSError.

    One that cannot be read counts as empty: who reads a conversation needs nothing of it.
    """
    return _meta(place, as_object(read_bytes(place.meta) or b"") or {})


def load_sound(place: Place) -> Meta:
    """As `load`, for whoever will write it again: what is in a damaged one would be lost. Raises: OSError; Corrupt."""
    data = (read_bytes(place.meta) or b"").strip()
    return _meta(place, object_in(place.meta, data) if data else {})


def _meta(place: Place, fields: dict[str, object]) -> Meta:
    found: dict[str, object] = {}
    for name in _TEXTS:
        if isinstance(value := fields.get(name), str):
            found[name] = value
            del fields[name]
    for name, attribute in _TIMES.items():
        if is_time(value := fields.get(name)):
            found[attribute] = value
            del fields[name]
    if isinstance(flags := fields.get("flags"), dict):
        found["flags"] = cast("dict[str, object]", flags)
        del fields["flags"]
    seconds = fields.get("created_at")
    if "created_ms" not in found and is_time(seconds):
        found["created_ms"] = seconds * 1000
    return Meta(id="", name=place.name, extra=fields)._replace(**found)


def is_time(value: object) -> TypeGuard[int]:
    """Whether a number can be a moment: others make every clock stumble."""
    return type(value) is int and 0 <= value < _NEVER


def save(place: Place, meta: Meta) -> None:
    """Write it whole. Raises: OSError."""
    fields: dict[str, object] = {**meta.extra}
    for name in _TEXTS:
        fields[name] = getattr(meta, name)
    fields["flags"] = dict(meta.flags)
    for name, attribute in _TIMES.items():
        if value := getattr(meta, attribute):
            fields[name] = value
    write_whole(place.meta, pretty(fields))
