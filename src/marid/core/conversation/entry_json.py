"""The JSON object of an entry, on every wire and in the transcript."""

from marid.core.conversation.entry import OK, Entry

MORE_LINES = "marid:more"
"""The number of lines of the same append that follow, so that a group that was cut can be removed as a whole. No other
program may use this name: its lines would be removed."""

# Fields that `extra` never replaces, since readers rely on them.
_RESERVED_FIELDS = frozenset({"sequence", MORE_LINES})


def entry_to_dict(entry: Entry) -> dict[str, object]:
    """The fields by their wire names, with those of other programs; empty optional ones are left out."""
    optional = {"role": entry.role, "round": entry.round, "tool_call_id": entry.tool_call_id}
    metadata: dict[str, object] = {"metadata": dict(entry.metadata)} if entry.metadata else {}
    return {
        "id": entry.id,
        "timestamp": entry.timestamp,
        "from": entry.sender,
        "to": entry.to,
        "content": entry.content,
        "entry_type": entry.entry_type,
        **{name: value for name, value in optional.items() if value},
        **metadata,
        "sequence": entry.sequence,
        "time_ms": entry.time_ms,
        "status": entry.status,
        **{name: value for name, value in entry.extra.items() if name not in _RESERVED_FIELDS},
    }


def status_mark(entry: Entry) -> str:
    """A suffix for people, if the entry did not end well."""
    return "" if entry.status == OK else f" ({entry.status})"
