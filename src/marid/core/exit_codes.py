"""What a process of ours ends with, by family; every face that is a program of its own ends so."""

from types import MappingProxyType

from marid.core.errors import MaridError

EXIT_STATUS = MappingProxyType(
    {"bad_input": 2, "refused": 3, "not_found": 4, "exhausted": 5, "unavailable": 6, "internal": 70}
)
INTERRUPTED_STATUS = 130


def exit_code(error: Exception) -> int:
    """The exit code of an error; anything that is not ours is a bug."""
    return EXIT_STATUS[error.code if isinstance(error, MaridError) else MaridError.code]
