from marid.faces.pipe.command_table import ASYNC_COMMANDS, SYNC_COMMANDS
from marid.faces.pipe.input_schema import COMMAND_FIELDS, COMMANDS_WITHOUT_FIELDS


def test_every_command_of_the_schema_is_there_once() -> None:
    assert SYNC_COMMANDS.keys() | ASYNC_COMMANDS.keys() == {*COMMANDS_WITHOUT_FIELDS, *COMMAND_FIELDS}
    assert not SYNC_COMMANDS.keys() & ASYNC_COMMANDS.keys()
