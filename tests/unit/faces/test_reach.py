from marid.app.reach import Reach
from marid.core.policy import Effect
from marid.faces.cli.flag_options import REACH
from marid.faces.reach import NAMES, reach_of


def test_flags_before_and_after_the_name_add_up() -> None:
    before = {"roots": ("a",), "allow": ("write",), "trust": False}
    after = {"roots": ("b",), "files": ("f",), "allow": ("exec,net",), "wait": True}
    assert reach_of(before, after) == Reach(
        roots=("a", "b"), files=("f",), allow=frozenset({Effect.WRITE, Effect.EXEC, Effect.NET}), wait=True
    )


def test_without_flags_the_settings_decide() -> None:
    assert reach_of({}) == Reach()


def test_every_flag_is_read() -> None:
    assert NAMES == ("roots", "files", "allow", "trust", "read_only", "wait")
    assert tuple(option.name for option in REACH) == NAMES
