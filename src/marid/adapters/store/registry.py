"""The two small files of a home: `state.json`, when conversations end, and `session.json`, which one is meant."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from typing import cast

from marid.adapters.store.files import (
    as_object,
    locked,
    pretty,
    read_bytes,
    read_object,
    told,
    write_whole,
)
from marid.adapters.store.layout import Layout
from marid.adapters.store.meta import is_time
from marid.core.conversation import Current, Expiry
from marid.text.names import check_name, is_name
from marid.workspace.private import private_folder

# Seconds within which a conversation that does not end by itself is in use only once.
_SELDOM = 60
_ZERO = ("last_activity_at", "destroy_after_seconds_inactive", "destroy_at")


class Registry:
    """Every change is one read and one write under a lock of the home. Raises Unavailable."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._seen: tuple[tuple[int, int, int], Mapping[str, dict[str, object]] | None] = (-1, 0, 0), None

    def expiries(self) -> Mapping[str, tuple[Expiry, int]]:
        """When conversations end, and when something last happened in them, as far as this file knows."""
        with told(f"reading '{self._state}'"):
            return {name: (_expiry(row), _number(row, "last_activity_at")) for name, row in self._rows().items()}

    def created(self, name: str) -> int:
        """When a conversation was made, as far as this file knows; else 0."""
        with told(f"reading '{self._state}'"):
            return _number(self._rows().get(name, {}), "created_at")

    def expire(self, name: str, expiry: Expiry, now: int) -> None:
        """Let a conversation end then; its inactivity counts from now on."""
        values = {"destroy_at": expiry.at, "destroy_after_seconds_inactive": expiry.after_inactive}
        self.edit(lambda rows: rows.setdefault(name, _row(name, now)).update({**values, "last_activity_at": now}))

    def use(self, name: str, now: int) -> None:
        """Something happens in a conversation now. It is noted to the second only where that decides anything, and not
        at all while somebody else writes, or where all that is known would be lost by it.
        """
        with told(f"reading '{self._state}'"):
            known = self._glance()
        if known is None or (name in known and not _matters(known[name], now)):
            return
        self.edit(lambda rows: rows.setdefault(name, _row(name, now)).update(last_activity_at=now), wait=False)

    def rename(self, old: str, new: str, move: Callable[[], None]) -> None:
        """All that is known of the one is known of the other. `move` gives the folder its name, under the same lock:
        who looks which conversations there are must not miss it between the two.
        """

        def follow(rows: dict[str, dict[str, object]]) -> None:
            move()
            if (row := rows.pop(old, None)) is not None:
                rows[new] = {**row, "name": new}

        self.edit(follow)
        if old in self.current():
            self._mean(lambda now: Current(*(new if name == old else name for name in now)))

    def sync(self, names: Callable[[], Iterable[str]], now: int) -> str:
        """Know exactly the conversations that there are; asked under the lock, so that no later one is forgotten.

        What stood there and cannot be read is kept beside it: that is told.
        """
        problem = self._put_aside()

        def match(rows: dict[str, dict[str, object]]) -> None:
            known = {name: rows.get(name) or _row(name, now) for name in names()}
            rows.clear()
            rows.update(known)

        self.edit(match)
        return problem

    def _put_aside(self) -> str:
        """Raises: Unavailable."""
        with told(f"writing '{self._state}'"):
            if not self._is_broken():
                return ""
            with self._locked():
                if not self._is_broken():
                    return ""
                aside = f"{self._state}.broken"
                if os.path.lexists(aside):
                    aside = f"{self._state}.{time.time_ns()}.broken"
                os.replace(self._state, aside)
        return f"'{self._state}' could not be read: it is now '{aside}', and no conversation ends by itself"

    def _glance(self) -> Mapping[str, dict[str, object]] | None:
        """The rows, read anew only when the file is another one; None when it cannot be read."""
        stamp = (0, 0, 0)
        with suppress(FileNotFoundError):
            about = os.stat(self._state)
            stamp = about.st_ino, about.st_size, about.st_mtime_ns
        if stamp != self._seen[0]:
            self._seen = stamp, None if self._is_broken() else self._rows()
        return self._seen[1]

    def _is_broken(self) -> bool:
        data = (read_bytes(self._state) or b"").strip()
        return bool(data) and as_object(data) is None

    def forget(self, name: str) -> None:
        """The conversation is gone."""

        def drop(rows: dict[str, dict[str, object]]) -> None:
            rows.pop(name, None)

        self.edit(drop)
        self.leave(name)

    def leave(self, name: str) -> Current:
        """As in the port."""
        now = self.current()
        return self._mean(lambda now: self._without(name, now)) if name in now else now

    def _without(self, name: str, now: Current) -> Current:
        if now.implied == name:
            return Current(now.previous) if now.previous in self._layout.names() else Current()
        return Current(now.implied) if now.previous == name else now

    def edit(self, how: Callable[[dict[str, dict[str, object]]], None], *, wait: bool = True) -> None:
        """Change the rows by name; nothing is written when nothing changes."""
        with told(f"writing '{self._state}'"), self._locked(wait=wait):
            rows = self._rows()
            before = {name: dict(row) for name, row in rows.items()}
            how(rows)
            if rows != before:
                whole = as_object(read_bytes(self._state) or b"") or {}
                write_whole(self._state, pretty({**whole, "contexts": [rows[name] for name in sorted(rows)]}))

    def current(self) -> Current:
        """As in the port."""
        with told(f"reading '{self._session}'"):
            found = read_object(self._session)
        if found is None:
            return self._older()
        return _current(found.get("implied_context"), found.get("previous_context"))

    def _older(self) -> Current:
        """As the first generation of homes has it: in the other file."""
        with told(f"reading '{self._state}'"):
            state = as_object(read_bytes(self._state) or b"") or {}
        return _current(state.get("current_context"), state.get("previous_context"))

    def switch(self, name: str) -> Current:
        """As in the port."""
        check_name(name)
        now = self.current()
        if name == now.implied:
            return now
        return self._mean(lambda now: now if name == now.implied else Current(name, now.implied))

    def _mean(self, how: Callable[[Current], Current]) -> Current:
        with told(f"writing '{self._session}'"), self._locked():
            current = how(self.current())
            whole = as_object(read_bytes(self._session) or b"") or {}
            whole |= {"implied_context": current.implied, "previous_context": current.previous or None}
            write_whole(self._session, pretty(whole))
            return current

    @property
    def _state(self) -> str:
        return self._layout.file("state.json")

    @property
    def _session(self) -> str:
        return self._layout.file("session.json")

    def _locked(self, *, wait: bool = True) -> AbstractContextManager[None]:
        private_folder(self._layout.home)
        return locked(self._layout.file(".state.lock"), wait=wait)

    def _rows(self) -> dict[str, dict[str, object]]:
        """What cannot be read counts as nothing: the folders tell which conversations there are."""
        contexts = (as_object(read_bytes(self._state) or b"") or {}).get("contexts")
        rows = cast("list[object]", contexts) if isinstance(contexts, list) else []
        found = [cast("dict[str, object]", row) for row in rows if isinstance(row, dict)]
        return {name: row for row in found if isinstance(name := row.get("name"), str)}


def _current(implied: object, previous: object) -> Current:
    """What can be no name means nothing: other programs check none."""
    return Current(
        implied if isinstance(implied, str) and is_name(implied) else Current().implied,
        previous if isinstance(previous, str) and is_name(previous) else "",
    )


def _row(name: str, now: int) -> dict[str, object]:
    return {"name": name, "created_at": now, **dict.fromkeys(_ZERO, 0)}


def _matters(row: dict[str, object], now: int) -> bool:
    """Whether the row should say that something happens now."""
    known = _number(row, "last_activity_at")
    return known != now if _expiry(row).after_inactive else abs(now - known) >= _SELDOM


def _number(row: dict[str, object], name: str) -> int:
    value = row.get(name)
    return value if is_time(value) else 0


def _expiry(row: dict[str, object]) -> Expiry:
    return Expiry(at=_number(row, "destroy_at"), after_inactive=_number(row, "destroy_after_seconds_inactive"))
