"""Errors as the last line tells them: six codes, by family."""

import traceback
from types import MappingProxyType
from typing import NamedTuple

from marid.core.conversation.records import Conflict, ConversationLocked, Corrupt
from marid.core.errors import FAMILIES, MaridError, unwrap_group
from marid.core.exit_codes import exit_code
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
# Kinds of errors that have a code of their own, whatever their family's is.
ERROR_CODES = MappingProxyType(
    {
        Conflict: "already_exists",
        ConversationLocked: "already_exists",
        Corrupt: "invalid_data",
        BadSettingsFile: "invalid_data",
    }
)


class ErrorReport(NamedTuple):
    """What the last line says, and what the process ends with."""

    code: str
    message: str
    exit: int


def error_report(error: Exception) -> ErrorReport:
    """What is told of an error; of a bug also where it was met."""
    error = unwrap_group(error)
    if not isinstance(error, MaridError):
        met = traceback.extract_tb(error.__traceback__)[-1:]
        place = "".join(f" ({frame.filename.rpartition('/')[2]}:{frame.lineno})" for frame in met)
        return ErrorReport(INTERNAL, f"a bug: {type(error).__name__}: {error}{place}", exit_code(error))
    kind = next((code for one, code in ERROR_CODES.items() if isinstance(error, one)), FAMILY_CODES[error.code])
    return ErrorReport(kind, str(error), exit_code(error))


def error_from_code(code: str, message: str) -> MaridError:
    """The error of a family, for a failure that came as a value."""
    return next((family for family in FAMILIES if family.code == code), MaridError)(message)
