"""Errors as the last line tells them: six codes, by family."""

import traceback
from types import MappingProxyType
from typing import NamedTuple

from marid.core.conversation import Conflict, Corrupt, Held
from marid.core.errors import FAMILIES, MaridError, alone
from marid.core.exits import exit_code
from marid.core.settings import BadFile

INTERNAL = "internal_error"
CODES = MappingProxyType(
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
KINDS = MappingProxyType(
    {Conflict: "already_exists", Held: "already_exists", Corrupt: "invalid_data", BadFile: "invalid_data"}
)


class Failure(NamedTuple):
    """What the last line says, and what the process ends with."""

    code: str
    message: str
    exit: int


def failure_of(error: Exception) -> Failure:
    """What is told of an error; of a bug also where it was met."""
    error = alone(error)
    if not isinstance(error, MaridError):
        met = traceback.extract_tb(error.__traceback__)[-1:]
        place = "".join(f" ({frame.filename.rpartition('/')[2]}:{frame.lineno})" for frame in met)
        return Failure(INTERNAL, f"a bug: {type(error).__name__}: {error}{place}", exit_code(error))
    kind = next((code for one, code in KINDS.items() if isinstance(error, one)), CODES[error.code])
    return Failure(kind, str(error), exit_code(error))


def error_of(code: str, message: str) -> MaridError:
    """The error of a family, for a failure that came as a value."""
    return next((family for family in FAMILIES if family.code == code), MaridError)(message)
