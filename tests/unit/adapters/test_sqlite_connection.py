"""Opening a database while others open it too."""

import sqlite3
from functools import partial
from pathlib import Path

from fakes.stores import run_in_threads
from marid.adapters.sqlite_connection import connect


def _open_and_close(path: str) -> None:
    connect(path, 30.0, ["journal_mode = WAL"], _create_table).close()


def _create_table(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE IF NOT EXISTS one (x)")


def test_several_connections_create_the_same_database_at_once(tmp_path: Path) -> None:
    """The defect: turning on WAL failed with "database is locked", whatever the busy timeout was."""
    for number in range(40):
        path = str(tmp_path / f"{number}.db")
        run_in_threads(*[partial(_open_and_close, path)] * 4)
        assert Path(path).exists()
