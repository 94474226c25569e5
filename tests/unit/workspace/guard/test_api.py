from marid.workspace.guard import api


def test_everything_that_tools_need_of_the_guard_has_one_address() -> None:
    assert [name for name in api.__all__ if not hasattr(api, name)] == []
