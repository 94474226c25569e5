"""Names of conversations. A name becomes a folder, so every entry point checks it."""

from types import MappingProxyType

from marid.core.errors import BadInput

MAX_LENGTH = 100
# Words that select a conversation and so cannot name one.
_RESERVED = MappingProxyType({"-": "'-' stands for the previous one", "new": "'new' stands for a new one"})
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def check_conversation_name(name: str) -> str:
    """The name. Raises: BadInput if a conversation cannot have it."""
    if why := _why_invalid(name):
        raise BadInput(f"'{ascii(name[:MAX_LENGTH])[1:-1]}' cannot be the name of a conversation: {why}")
    return name


def is_conversation_name(name: str) -> bool:
    """Whether a conversation can have this name."""
    return not _why_invalid(name)


def _why_invalid(name: str) -> str:
    if not name:
        return "it is empty"
    if len(name) > MAX_LENGTH:
        return f"it is longer than {MAX_LENGTH} characters"
    if not _LETTERS.issuperset(name):
        return "use only letters, digits, '-' and '_'"
    if name.lower() == "system":
        return "it is reserved"
    return _RESERVED.get(name, "")
