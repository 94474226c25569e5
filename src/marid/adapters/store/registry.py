"""The two small files of a home: `state.json`, when conversations end, and `session.json`, which one is meant."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import cast

from marid.adapters.store.files import (
    as_object,
    locked,
    make_folder,
    pretty,
    read_bytes,
    read_object,
    told,
    write_whole,
)
from marid.adapters.store.layout import Layout
from marid.core.conversation import Current, Expiry
from marid.text.names import check_name

_ZERO = ("last_activity_at", "destroy_after_seconds_inactive", "destroy_at")


class Registry:
    """Every change is one read and one write under a lock of the home. Raises Unavailable."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def expiries(self) -> Mapping[str, tuple[Expiry, int]]:
        """When conversations end, and when something last happened in them, as far as this file knows."""
        with told(f"reading '{self._state}'"):
            return {name: (_expiry(row), _number(row, "last_activity_at")) for name, row in self._rows().items()}

    def expire(self, name: str, expiry: Expiry, now: int) -> None:
        """Let a conversation end then; its inactivity counts from now on."""
        values = {"destroy_at": expiry.at, "destroy_after_seconds_inactive": expiry.after_inactive}
        self.edit(lambda rows: rows.setdefault(name, _row(name, now)).update({**values, "last_activity_at": now}))

    def rename(self, old: str, new: str) -> None:
        """All that is known of the one is known of the other."""

        def move(rows: dict[str, dict[str, object]]) -> None:
            if (row := rows.pop(old, None)) is not None:
                rows[new] = {**row, "name": new}

        self.edit(move)
        current = self.current()
        if old in current:
            self._write(Current(*(new if name == old else name for name in current)))

    def sync(self, names: list[str], now: int) -> None:
        """Know exactly the conversations that there are."""

        def match(rows: dict[str, dict[str, object]]) -> None:
            known = {name: rows.get(name) or _row(name, now) for name in names}
            rows.clear()
            rows.update(known)

        self.edit(match)

    def forget(self, name: str) -> None:
        """The conversation is gone."""

        def drop(rows: dict[str, dict[str, object]]) -> None:
            rows.pop(name, None)

        self.edit(drop)

    def edit(self, how: Callable[[dict[str, dict[str, object]]], None]) -> None:
        """Change the rows by name; nothing is written when nothing changes."""
        with told(f"writing '{self._state}'"), self._locked():
            rows = self._rows()
            before = {name: dict(row) for name, row in rows.items()}
            how(rows)
            if rows != before:
                whole = as_object(read_bytes(self._state) or b"") or {}
                write_whole(self._state, pretty({**whole, "contexts": [rows[name] for name in sorted(rows)]}))

    def current(self) -> Current:
        """As in the port."""
        with told(f"reading '{self._session}'"):
            found = read_object(self._session) or {}
        implied, previous = found.get("implied_context"), found.get("previous_context")
        return Current(
            implied if isinstance(implied, str) and implied else Current().implied,
            previous if isinstance(previous, str) else "",
        )

    def switch(self, name: str) -> Current:
        """As in the port."""
        check_name(name)
        now = self.current()
        if name != now.implied:
            now = Current(name, now.implied)
            self._write(now)
        return now

    def _write(self, current: Current) -> None:
        with told(f"writing '{self._session}'"), self._locked():
            whole = as_object(read_bytes(self._session) or b"") or {}
            whole |= {"implied_context": current.implied, "previous_context": current.previous or None}
            write_whole(self._session, pretty(whole))

    @property
    def _state(self) -> str:
        return self._layout.file("state.json")

    @property
    def _session(self) -> str:
        return self._layout.file("session.json")

    def _locked(self) -> AbstractContextManager[None]:
        make_folder(self._layout.home)
        return locked(self._layout.file(".state.lock"))

    def _rows(self) -> dict[str, dict[str, object]]:
        """What cannot be read counts as nothing: the folders tell which conversations there are."""
        contexts = (as_object(read_bytes(self._state) or b"") or {}).get("contexts")
        rows = cast("list[object]", contexts) if isinstance(contexts, list) else []
        found = [cast("dict[str, object]", row) for row in rows if isinstance(row, dict)]
        return {name: row for row in found if isinstance(name := row.get("name"), str)}


def _row(name: str, now: int) -> dict[str, object]:
    return {"name": name, "created_at": now, **dict.fromkeys(_ZERO, 0)}


def _number(row: dict[str, object], name: str) -> int:
    value = row.get(name)
    return value if type(value) is int else 0


def _expiry(row: dict[str, object]) -> Expiry:
    return Expiry(at=_number(row, "destroy_at"), after_inactive=_number(row, "destroy_after_seconds_inactive"))
