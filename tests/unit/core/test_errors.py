from marid.core.errors import EXIT_STATUS, FAMILIES, INTERRUPTED_STATUS, BadInput, MaridError, exit_code, unwrap_group


def test_every_family_has_its_own_code_and_exit_code() -> None:
    assert EXIT_STATUS == {
        "bad_input": 2, "refused": 3, "not_found": 4, "exhausted": 5, "unavailable": 6, "internal": 70
    }  # fmt: skip
    assert INTERRUPTED_STATUS not in EXIT_STATUS.values()
    assert [exit_code(family("x")) for family in FAMILIES] == [2, 3, 4, 5, 6]
    assert [exit_code(error) for error in (ValueError("x"), MaridError("x"))] == [70, 70]


def test_the_only_error_of_a_group_of_tasks_is_the_error() -> None:
    error = BadInput("x")
    assert unwrap_group(ExceptionGroup("tasks", [ExceptionGroup("tasks", [error])])) is error
    both = ExceptionGroup("tasks", [error, error])
    assert unwrap_group(both) is both
    assert unwrap_group(error) is error
