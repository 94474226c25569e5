from marid.workspace import guard


def test_everything_that_tools_need_of_the_guard_has_one_address() -> None:
    assert [name for name in guard.__all__ if not hasattr(guard, name)] == []
