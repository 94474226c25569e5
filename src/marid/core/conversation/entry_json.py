"""An entry as the object that every wire shows and that its line in the transcript is."""

from marid.core.conversation.entry import OK, Entry

MORE_LINES = "marid:more"
"""How many lines of the same append follow a line: a group that was cut is taken back as a whole. The name is one that
nobody else has: by a line of another program that has it, whole lines would be taken back."""

# Names of ours that somebody else's field of the same name never replaces: readers go by them.
_RESERVED_FIELDS = frozenset({"sequence", MORE_LINES})


def entry_to_dict(entry: Entry) -> dict[str, object]:
    """By the documents' names; what is empty and optional is left out, and the fields of others are there."""
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
    """What is put after an entry that did not end well, for a person."""
    return "" if entry.status == OK else f" ({entry.status})"
