from marid.faces.pipe.commands import AT_ONCE, ROUNDS
from marid.faces.pipe.shape import FIELDS, UNITS


def test_every_command_of_the_schema_is_there_once() -> None:
    assert AT_ONCE.keys() | ROUNDS.keys() == {*UNITS, *FIELDS}
    assert not AT_ONCE.keys() & ROUNDS.keys()
