"""Opening a database while others open it too."""

from functools import partial
from pathlib import Path

from fakes.stores import run_in_threads
from marid.adapters.sqlite_connection import DatabaseSchema, SqliteConnection

SCHEMA = DatabaseSchema(1, ["CREATE TABLE one (x)"], [])


def _open_and_close(path: str) -> None:
    connection = SqliteConnection(path, SCHEMA, 30.0)
    connection.get()
    connection.close()


def test_several_connections_create_the_same_database_at_once(tmp_path: Path) -> None:
    """The defect: turning on WAL failed with "database is locked", whatever the busy timeout was."""
    for number in range(40):
        path = str(tmp_path / f"{number}.db")
        run_in_threads(*[partial(_open_and_close, path)] * 4)
        assert Path(path).exists()
