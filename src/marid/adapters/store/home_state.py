"""Two files of a home: `state.json` with the expiries of conversations, `session.json` with the current one."""

import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TypeAlias, cast

from marid.adapters.store import files
from marid.adapters.store.files import disk_errors, parse_object, read_bytes
from marid.adapters.store.layout import HomeLayout
from marid.core.conversation.records import CurrentConversation, Expiry
from marid.text.conversation_names import check_conversation_name, is_conversation_name

# Seconds between two notes of activity in a conversation that does not expire.
_ACTIVITY_RESOLUTION = 60
_Row: TypeAlias = dict[str, object]
_ZERO_FIELDS = ("last_activity_at", "destroy_after_seconds_inactive", "destroy_at")


class HomeState:
    """The port TerminalSession, and the expiries. All methods raise Unavailable; changes are made under a lock."""

    def __init__(self, layout: HomeLayout) -> None:
        self._layout = layout
        self._state_path, self._session_path = layout.file("state.json"), layout.file("session.json")
        self._row_cache: tuple[tuple[int, int, int], Mapping[str, _Row] | None] = (-1, 0, 0), None

    def expiries(self) -> Mapping[str, tuple[Expiry, int]]:
        """The expiry and the last activity of each conversation in the file."""
        with disk_errors(f"reading '{self._state_path}'"):
            rows = self._rows().items()
        return {name: (_expiry_from(row), _time_field(row, "last_activity_at")) for name, row in rows}

    def created_at(self, name: str) -> int:
        """The creation time in the file, else 0."""
        with disk_errors(f"reading '{self._state_path}'"):
            return _time_field(self._rows().get(name, {}), "created_at")

    def set_expiry(self, name: str, expiry: Expiry, now: int) -> None:
        values = {"destroy_at": expiry.at, "destroy_after_seconds_inactive": expiry.after_inactive}
        values["last_activity_at"] = now
        self.edit_rows(lambda rows: rows.setdefault(name, _new_row(name, now)).update(values))

    def record_activity(self, name: str, now: int) -> None:
        """Note activity, to the second only if the conversation expires by inactivity. Skipped while another process
        writes, and if the file is damaged, since its content would be lost.
        """
        with disk_errors(f"reading '{self._state_path}'"):
            known = self._cached_rows()
        if known is None or (name in known and not _is_worth_noting(known[name], now)):
            return
        self.edit_rows(lambda rows: rows.setdefault(name, _new_row(name, now)).update(last_activity_at=now), wait=False)

    def rename(self, old: str, new: str, move: Callable[[], None]) -> None:
        """Rename the row. `move` renames the folder under the same lock: `sync` must not miss the conversation."""

        def rename_row(rows: dict[str, _Row]) -> None:
            move()
            if (row := rows.pop(old, None)) is not None:
                rows[new] = {**row, "name": new}

        self.edit_rows(rename_row)
        if old in self.current():
            self._update_session(lambda now: CurrentConversation(*(new if name == old else name for name in now)))

    def sync(self, names: Callable[[], Iterable[str]], now: int) -> str:
        """Make the rows match `names`, called under the lock. The note is about a damaged file, which is renamed."""
        problem = ""

        def match_folders(rows: dict[str, _Row]) -> None:
            nonlocal problem
            problem = self._quarantine_broken()
            known = {name: rows.get(name) or _new_row(name, now) for name in names()}
            rows.clear()
            rows.update(known)

        self.edit_rows(match_folders)
        return problem

    def _quarantine_broken(self) -> str:
        if not self._is_broken():
            return ""
        aside = f"{self._state_path}.broken"
        if os.path.lexists(aside):
            aside = f"{self._state_path}.{time.time_ns()}.broken"
        os.replace(self._state_path, aside)
        return f"'{self._state_path}' was damaged and is now '{aside}': no conversation expires"

    def _cached_rows(self) -> Mapping[str, _Row] | None:
        """The rows, read again only if the file has changed; None if it is damaged."""
        stamp = (0, 0, 0)
        with suppress(FileNotFoundError):
            about = os.stat(self._state_path)
            stamp = about.st_ino, about.st_size, about.st_mtime_ns
        if stamp != self._row_cache[0]:
            self._row_cache = stamp, None if self._is_broken() else self._rows()
        return self._row_cache[1]

    def _is_broken(self) -> bool:
        data = (read_bytes(self._state_path) or b"").strip()
        return bool(data) and parse_object(data) is None

    def forget(self, name: str) -> None:
        """Remove a destroyed conversation."""
        self.edit_rows(lambda rows: rows.pop(name, None))
        self.leave(name)

    def leave(self, name: str) -> CurrentConversation:
        def without(now: CurrentConversation) -> CurrentConversation:
            if now.implied != name:
                return CurrentConversation(now.implied, "" if now.previous == name else now.previous)
            exists = now.previous in self._layout.conversation_names()
            return CurrentConversation(now.previous) if exists else CurrentConversation()

        now = self.current()
        return self._update_session(without) if name in now else now

    def edit_rows(self, edit: Callable[[dict[str, _Row]], object], *, wait: bool = True) -> None:
        """Change the rows, given by name; nothing is written if nothing changes."""
        with disk_errors(f"writing '{self._state_path}'"), self._layout.lock(wait=wait):
            rows = self._rows()
            before = {name: dict(row) for name, row in rows.items()}
            edit(rows)
            if rows != before:
                whole = parse_object(read_bytes(self._state_path)) or {}
                whole["contexts"] = [rows[name] for name in sorted(rows)]
                files.write_atomic(self._state_path, files.pretty_json(whole))

    def current(self) -> CurrentConversation:
        with disk_errors(f"reading '{self._session_path}'"):
            data = read_bytes(self._session_path)
        if data is None:
            # Old homes have it in `state.json`.
            with disk_errors(f"reading '{self._state_path}'"):
                state = parse_object(read_bytes(self._state_path)) or {}
            return _current_from(state.get("current_context"), state.get("previous_context"))
        found = files.require_object(self._session_path, data)
        return _current_from(found.get("implied_context"), found.get("previous_context"))

    def switch(self, name: str) -> CurrentConversation:
        check_conversation_name(name)
        now = self.current()
        if name == now.implied:
            return now
        return self._update_session(lambda now: now if name == now.implied else CurrentConversation(name, now.implied))

    def _update_session(self, update: Callable[[CurrentConversation], CurrentConversation]) -> CurrentConversation:
        with disk_errors(f"writing '{self._session_path}'"), self._layout.lock(wait=True):
            current = update(self.current())
            whole = parse_object(read_bytes(self._session_path)) or {}
            whole |= {"implied_context": current.implied, "previous_context": current.previous or None}
            files.write_atomic(self._session_path, files.pretty_json(whole))
            return current

    def _rows(self) -> dict[str, _Row]:
        """The rows by name; none if the file is damaged, since the folders show which conversations exist."""
        contexts = (parse_object(read_bytes(self._state_path)) or {}).get("contexts")
        rows = cast("list[object]", contexts) if isinstance(contexts, list) else []
        found = [cast("_Row", row) for row in rows if isinstance(row, dict)]
        return {name: row for row in found if isinstance(name := row.get("name"), str)}


def _current_from(implied: object, previous: object) -> CurrentConversation:
    """Invalid names are ignored: other programs do not check them."""
    return CurrentConversation(
        implied if isinstance(implied, str) and is_conversation_name(implied) else CurrentConversation().implied,
        previous if isinstance(previous, str) and is_conversation_name(previous) else "",
    )


def _new_row(name: str, now: int) -> _Row:
    return {"name": name, "created_at": now, **dict.fromkeys(_ZERO_FIELDS, 0)}


def _is_worth_noting(row: _Row, now: int) -> bool:
    known = _time_field(row, "last_activity_at")
    return known != now if _expiry_from(row).after_inactive else abs(now - known) >= _ACTIVITY_RESOLUTION


def _time_field(row: _Row, name: str) -> int:
    value = row.get(name)
    return value if files.is_time(value) else 0


def _expiry_from(row: _Row) -> Expiry:
    return Expiry(at=_time_field(row, "destroy_at"), after_inactive=_time_field(row, "destroy_after_seconds_inactive"))
