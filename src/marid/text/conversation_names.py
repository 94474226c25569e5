"""What a conversation may be called: the name becomes a folder, so it is checked at every entrance."""

from types import MappingProxyType

from marid.core.errors import BadInput

MAX_LENGTH = 100
# Words that mean a conversation, whatever it is called.
_RESERVED = MappingProxyType({"-": "'-' stands for the previous one", "new": "'new' stands for a new one"})
_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def check_conversation_name(name: str) -> str:
    """The name itself.

    Raises: BadInput when it is no name of a conversation.
    """
    if why := _why_invalid(name):
        raise BadInput(f"'{_escape_name(name)}' cannot be the name of a conversation: {why}")
    return name


def is_conversation_name(name: str) -> bool:
    """Whether a conversation may be called so."""
    return not _why_invalid(name)


def _why_invalid(name: str) -> str:
    if not name:
        return "it is empty"
    if len(name) > MAX_LENGTH:
        return f"it has more than {MAX_LENGTH} characters"
    if not _LETTERS.issuperset(name):
        return "only letters, digits, '-' and '_' may be in it"
    if name.lower() == "system":
        return "that is the program's own"
    return _RESERVED.get(name, "")


def _escape_name(name: str) -> str:
    """Fit for a message: short, and without what would move a cursor."""
    return ascii(name[:MAX_LENGTH])[1:-1]
