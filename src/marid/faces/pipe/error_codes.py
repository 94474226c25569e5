"""The error codes of the last line, by family."""

import traceback
from types import MappingProxyType
from typing import NamedTuple

from marid.core.conversation.records import Conflict, ConversationLocked, Corrupt
from marid.core.errors import FAMILIES, MaridError, exit_code, unwrap_group
from marid.core.settings.values import BadSettingsFile

INTERNAL = "internal_error"
FAMILY_CODES = MappingProxyType(
    {
        "bad_input": "invalid_input",
        "refused": "permission_denied",
        "not_found": "not_found",
        "exhausted": INTERNAL,
        "unavailable": INTERNAL,
        "internal": INTERNAL,
    }
)
# Errors with another code than their family.
ERROR_CODES = MappingProxyType(
    {
        Conflict: "already_exists",
        ConversationLocked: "already_exists",
        Corrupt: "invalid_data",
        BadSettingsFile: "invalid_data",
    }
)


class ErrorReport(NamedTuple):
    """The fields of the last line, and the exit code."""

    code: str
    message: str
    exit: int


def error_report(error: Exception) -> ErrorReport:
    """The report of an error; for a bug also where it was raised."""
    error = unwrap_group(error)
    if not isinstance(error, MaridError):
        frames = traceback.extract_tb(error.__traceback__)[-1:]
        place = "".join(f" ({frame.filename.rpartition('/')[2]}:{frame.lineno})" for frame in frames)
        return ErrorReport(INTERNAL, f"a bug: {type(error).__name__}: {error}{place}", exit_code(error))
    kind = next((code for one, code in ERROR_CODES.items() if isinstance(error, one)), FAMILY_CODES[error.code])
    return ErrorReport(kind, str(error), exit_code(error))


def error_from_code(code: str, message: str) -> MaridError:
    """The error of the family with this code, for a failure that is a value."""
    return next((family for family in FAMILIES if family.code == code), MaridError)(message)
