import pytest

from marid.core.conversation.records import Conflict, ConversationLocked, Corrupt, SequenceConflict
from marid.core.errors import EXIT_STATUS, BadInput, Exhausted, MaridError, NotFound, OutsideRoots, Refused, Unavailable
from marid.core.settings.values import BadSettingsFile
from marid.faces.pipe.error_codes import FAMILY_CODES, error_from_code, error_report


def test_every_family_has_a_code() -> None:
    assert set(FAMILY_CODES) == set(EXIT_STATUS)


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (BadInput("x"), "invalid_input", 2),
        (SequenceConflict("x", 1), "invalid_input", 2),
        (Conflict("x"), "already_exists", 2),
        (Refused("x"), "permission_denied", 3),
        (OutsideRoots("x", "/etc"), "permission_denied", 3),
        (NotFound("x"), "not_found", 4),
        (Exhausted("x"), "internal_error", 5),
        (Unavailable("x"), "internal_error", 6),
        (ConversationLocked("x", None), "already_exists", 6),
        (Corrupt("x"), "invalid_data", 6),
        (BadSettingsFile("x"), "invalid_data", 2),
        (MaridError("x"), "internal_error", 70),
    ],
)
def test_an_error_has_the_code_of_its_kind_and_the_exit_of_its_family(error: Exception, code: str, status: int) -> None:
    assert error_report(error) == (code, "x", status)


def test_a_bug_is_told_with_its_place() -> None:
    with pytest.raises(KeyError) as met:
        {}["x"]
    failure = error_report(met.value)
    assert (failure.code, failure.exit) == ("internal_error", 70)
    assert failure.message.startswith("a bug: KeyError: 'x' (test_error_codes.py:")


def test_an_error_that_was_never_raised_has_no_place() -> None:
    assert error_report(ValueError("x")).message == "a bug: ValueError: x"


def test_the_only_error_of_a_group_of_tasks_is_the_error() -> None:
    assert error_report(ExceptionGroup("tasks", [ExceptionGroup("tasks", [NotFound("x")])])).code == "not_found"
    assert error_report(ExceptionGroup("tasks", [NotFound("x"), Refused("y")])).code == "internal_error"


@pytest.mark.parametrize("code", EXIT_STATUS)
def test_a_failure_that_came_as_a_value_becomes_its_error(code: str) -> None:
    assert error_from_code(code, "x").code == code
