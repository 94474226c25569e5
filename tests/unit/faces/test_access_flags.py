from marid.app.tool_access import ToolAccess
from marid.core.policy.policy import Effect
from marid.faces.access_flags import access_from_flags


def test_flags_before_and_after_the_name_add_up() -> None:
    before = {"roots": ("a",), "allow": ("write",), "trust": False}
    after = {"roots": ("b",), "files": ("f",), "allow": ("exec,net",), "wait": True}
    assert access_from_flags(before, after) == ToolAccess(
        roots=("a", "b"), files=("f",), allow=frozenset({Effect.WRITE, Effect.EXEC, Effect.NET}), wait=True
    )


def test_without_flags_the_settings_decide() -> None:
    assert access_from_flags({}) == ToolAccess()
