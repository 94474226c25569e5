"""Results of a bearable size: what is too long is cut, and says so."""

from collections.abc import Mapping

from marid.toolkit.outcome import Done

MOST_BYTES = 4_000_000
# For what a wire puts around a result.
_MARGIN = 2_000


def clipped(done: Done, most: int = MOST_BYTES) -> Done:
    """The result, whose text and values fit together in `most` bytes of JSON."""
    if len(done.text) * 6 + _at_most(done.values) <= most - _MARGIN:
        return done
    import json

    room = max(most - _MARGIN, 0)
    size = len(json.dumps(done.values, default=str))
    fits = size <= room // 2
    values = done.values if fits else {"values_left_out": True}
    room -= size if fits else 0
    if _size(done.text) <= room:
        return done if fits else Done(text=done.text, values=values)
    text = _head(done.text, room)
    note = f"\n[cut: {len(done.text) - len(text):,} of {len(done.text):,} characters are left out; ask for less]"
    return Done(text=text + note, values={**values, "truncated": True})


def _at_most(values: Mapping[str, object]) -> int:
    """No less than what they take in JSON, without making it; more than there can be for what is not plain."""
    size = 0
    for name, value in values.items():
        if not isinstance(value, str | int | float | None):
            return MOST_BYTES
        size += 6 * (len(name) + len(value)) if isinstance(value, str) else 6 * len(name) + 40
    return size


def _size(text: str) -> int:
    """In bytes, as JSON writes it without escaping what is not ASCII."""
    import json

    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _head(text: str, room: int) -> str:
    """Nearly as much of the beginning as fits: each guess from how much the last one was too long."""
    head = text[:room]
    while head and (size := _size(head)) > room:
        head = head[: min(len(head) - 1, len(head) * room // size)]
    return head
