"""The conversations of a home, one folder each."""

import errno
import os
import shutil
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice

from marid.adapters.store import lease, legacy
from marid.adapters.store.entry_lines import encode_line
from marid.adapters.store.files import disk_errors, remove_leftovers, sync_folder, write_atomic
from marid.adapters.store.home_state import HomeState
from marid.adapters.store.inbox import FileInbox
from marid.adapters.store.layout import DESTROYED_PREFIX, NEW_PREFIX, ConversationPaths, HomeLayout
from marid.adapters.store.open_conversation import OpenConversation
from marid.adapters.store.transcript_reader import ChangeWatcher, TranscriptReader, creation_anchor, last_entry_ms
from marid.core.conversation.entry import Entry, new_id
from marid.core.conversation.records import (
    DEFAULT_STORAGE,
    Conflict,
    ConversationHit,
    ConversationMeta,
    Corrupt,
    Expiry,
    LeaseHolder,
    StorageSettings,
    SweepResult,
)
from marid.core.errors import MaridError, NotFound, Unavailable
from marid.ports.conversations import ConversationStores
from marid.text.display import quote_path


class FileConversations:
    """Conversations, ConversationLifetimes and ConversationFiles; `session` and `inbox` are the other ports."""

    def __init__(self, home: str, *, clock: Callable[[], float] = time.time) -> None:
        self._layout = HomeLayout(os.path.abspath(home))
        self._clock = clock
        self.session = HomeState(self._layout)
        self.inbox = FileInbox(self._locate, self._locate_or_create, clock)
        self._watcher = ChangeWatcher()

    def list(self, owner: str = "", *, after: str = "", limit: int = 0) -> tuple[ConversationMeta, ...]:
        with disk_errors(f"reading '{self._layout.contexts}'"):
            names = self._layout.conversation_names()
            found = map(self._meta_or_none, names[bisect_right(names, after) :])
            return tuple(islice((meta for meta in found if meta and meta.owner == owner), limit or None))

    def get_meta(self, key: str) -> ConversationMeta:
        with disk_errors(f"reading the conversation '{key}'"):
            return self._load_meta(self._locate(key))

    def resolve_name(self, key: str) -> str:
        with disk_errors(f"reading the conversation '{key}'"), suppress(NotFound):
            return self._locate(key).name
        return key

    def create(self, name: str = "", *, source: str = "CLI", title: str = "", owner: str = "") -> ConversationMeta:
        with disk_errors(f"creating the conversation '{name}'"):
            if name and (other := self._find_by_id(self._layout.paths(name).name)) is not None:
                raise Conflict(f"'{name}' is the id of the conversation '{other.name}'")
        return self._create(ConversationMeta(id="", name=name, source=source, title=title, owner=owner))

    def _create(self, known: ConversationMeta) -> ConversationMeta:
        """Create the folder under a temporary name, complete, and rename it."""
        key = new_id()
        paths = self._layout.paths(known.name or key)
        known = known._replace(id=key, name=paths.name, created_ms=round(self._clock() * 1000))
        with disk_errors(f"creating the conversation '{paths.name}'"):
            draft = self._layout.folder(NEW_PREFIX + key)
            try:
                draft.make_folders()
                draft.save_meta(known)
                write_atomic(draft.active, encode_line(creation_anchor(known)._replace(id=new_id(), sequence=1)))
                sync_folder(draft.folder)
                _rename_into_place(draft.folder, paths)
            except BaseException:
                shutil.rmtree(draft.folder, ignore_errors=True)
                raise
            sync_folder(self._layout.contexts)
        return known

    def open(
        self, key: str, storage: StorageSettings = DEFAULT_STORAGE, *, wait: float = 0.0, create: bool = False
    ) -> OpenConversation:
        with disk_errors(f"opening the conversation '{key}'"):
            paths, held = self._acquire(key, wait, storage.lock_heartbeat_seconds, create=create)
            try:
                opened = self._open_leased(paths, storage, held)
            except BaseException:
                held.release()
                raise
        self._record_activity(paths)
        return opened

    def _record_activity(self, paths: ConversationPaths) -> None:
        """Note activity; on a full disk it is skipped."""
        with suppress(Unavailable):
            self.session.record_activity(paths.name, int(self._clock()))

    def read(self, key: str) -> TranscriptReader:
        with disk_errors(f"reading the conversation '{key}'"):
            return TranscriptReader(self._locate(key).refuse_links(), DEFAULT_STORAGE)

    def rename(self, key: str, name: str) -> ConversationMeta:
        target = self._layout.paths(name)
        with disk_errors(f"renaming the conversation '{key}'"):
            paths = self._locate(key)
            if paths.name == name:
                return self._load_meta(paths)
            other = self._find_by_id(name)
            if os.path.lexists(target.folder) or (other is not None and other.name != paths.name):
                raise Conflict(f"there is a conversation '{name}' already")
            paths, held = self._acquire(key)
            try:
                self._rename_folder(paths, target)
                return self._load_meta(target)
            finally:
                held.release()

    def _rename_folder(self, old: ConversationPaths, new: ConversationPaths) -> None:
        """Rename the folder and the rows of the home; if those cannot be written, the old name stays."""

        def move() -> None:
            with disk_errors(f"renaming the conversation '{old.name}'"):
                _rename_into_place(old.folder, new)
                sync_folder(self._layout.contexts)

        try:
            with suppress(Corrupt):
                self.session.rename(old.name, new.name, move)
        except Unavailable:
            with suppress(OSError, Conflict):
                _rename_into_place(new.folder, old)
            raise

    def archive(
        self, key: str, storage: StorageSettings = DEFAULT_STORAGE, *, archived: bool = True
    ) -> ConversationMeta:
        now = round(self._clock() * 1000)
        with self.open(key, storage) as held:
            return held.update_meta(
                lambda meta: meta._replace(archived_ms=(meta.archived_ms or now) if archived else 0)
            )

    def destroy(self, key: str) -> None:
        self._destroy(key, lambda: True)

    def _destroy(self, key: str, is_due: Callable[[], bool]) -> bool:
        """Take the lease, and destroy it if that is still due."""
        with disk_errors(f"destroying the conversation '{key}'"):
            paths, held = self._acquire(key)
            try:
                if not is_due():
                    return False
                # Renamed first: after a crash no part of a conversation is left under its name.
                remains = self._layout.folder(DESTROYED_PREFIX + new_id()).folder
                os.rename(paths.folder, remains)
                sync_folder(self._layout.contexts)
            finally:
                held.release()
            shutil.rmtree(remains, ignore_errors=True)
        with suppress(Corrupt):
            self.session.forget(paths.name)
        return True

    def holder(self, key: str) -> LeaseHolder | None:
        with disk_errors(f"reading the conversation '{key}'"):
            return lease.current_holder(self._locate(key).lock)

    def search(
        self, query: str, *, whole: bool = False, on_problem: Callable[[str], None] = lambda _problem: None
    ) -> Iterator[ConversationHit]:
        with disk_errors(f"reading '{self._layout.contexts}'"):
            names = self._layout.conversation_names()
        for name in names:
            try:
                read = self.read(name)
                for entry in read.search(query, whole_words=whole):
                    yield ConversationHit(name, entry)
                for problem in read.problems():
                    on_problem(problem)
            except MaridError as error:
                on_problem(str(error))

    def subscribe(self, key: str, wake: Callable[[], object]) -> Callable[[], None]:
        with disk_errors(f"reading the conversation '{key}'"):
            return self._watcher.subscribe(self._locate(key).active, wake)

    def settings_folder(self, name: str) -> str:
        return self._layout.paths(name).folder

    def log_file(self, name: str, file: str) -> str:
        return self._layout.paths(name).file(file)

    def expiry(self, key: str) -> Expiry:
        known = self.session.expiries().get(self.get_meta(key).name)
        return known[0] if known else Expiry()

    def set_expiry(self, key: str, expiry: Expiry) -> None:
        self.session.set_expiry(self.get_meta(key).name, expiry, int(self._clock()))

    def sweep(self) -> SweepResult:
        now = int(self._clock())
        gone: list[str] = []
        for name, (expiry, active) in self.session.expiries().items():
            if _is_expired(expiry, active, now):
                with suppress(MaridError, OSError):
                    if self._destroy_if_expired(name, now):
                        gone.append(name)
        with disk_errors(f"reading '{self._layout.contexts}'"):
            self._purge_leftovers()
            problem = self.session.sync(self._layout.conversation_names, now)
        return SweepResult(tuple(gone), problem)

    def _open_leased(self, paths: ConversationPaths, storage: StorageSettings, held: lease.Lease) -> OpenConversation:
        held.check()
        paths.make_folders(sealed=False)  # whether there are partitions says where an old transcript goes
        remove_leftovers(paths.folder)
        remove_leftovers(paths.transcript)
        known = paths.load_meta_strict()
        foreign = None
        if not known.id:
            legacy.move_old_transcript(paths, storage)
            foreign = legacy.legacy_window(paths)
        opened = OpenConversation(paths, storage, held, self._clock, on_close=lambda: self._record_activity(paths))
        try:
            if not known.id:
                first = [*islice(opened.entries(), 1), *(foreign or ())]
                created_ms = known.created_ms or self._earliest_time_ms(paths, first)
                legacy.adopt_entries(opened, paths, foreign)
                opened.assign_id(new_id(), created_ms)
            opened.start_window_file()
            opened.record_edited_prompt()
        except BaseException:
            # The window of another program stays until its entries are in the transcript.
            opened.abandon()
            raise
        return opened

    def _earliest_time_ms(self, paths: ConversationPaths, entries: Iterable[Entry]) -> int:
        """When a conversation of another program was created: the earliest time in any of its files."""
        times = [self.session.created_at(paths.name) * 1000, legacy.legacy_created_at(paths) * 1000]
        times += [entry.time_ms for entry in entries]
        return min(filter(None, times), default=round(self._clock() * 1000))

    def _acquire(
        self, key: str, wait: float = 0.0, heartbeat: float = 0.0, *, create: bool = False
    ) -> tuple[ConversationPaths, lease.Lease]:
        """Locate the conversation and take its lease. Raises: ConversationLocked; BadInput; NotFound; OSError."""
        until = time.monotonic() + wait
        while True:
            paths = (self._locate_or_create(key) if create else self._locate(key)).refuse_links()
            left = max(0.0, until - time.monotonic())
            # If it was renamed or destroyed meanwhile, locate or create it again.
            with suppress(NotFound):
                return paths, lease.acquire(paths.lock, wait=left, heartbeat=heartbeat, clock=self._clock)

    def _locate_or_create(self, key: str) -> ConversationPaths:
        """As `_locate`, or create it, even if other processes create and destroy it at the same time."""
        while True:
            with suppress(NotFound):
                return self._locate(key)
            # Another process may be faster.
            with suppress(Conflict):
                self._create(ConversationMeta(id="", name=key))

    def _locate(self, key: str) -> ConversationPaths:
        """By name, else by id. Raises: BadInput; NotFound; OSError."""
        try:
            return self._layout.existing_paths(key)
        except NotFound:
            if (paths := self._find_by_id(key)) is not None:
                return paths
            raise

    def _find_by_id(self, key: str) -> ConversationPaths | None:
        """Conversations that cannot be read are skipped. Raises: OSError."""
        for name in self._layout.conversation_names():
            paths = self._layout.folder(name)
            with suppress(OSError):
                if paths.load_meta().id == key:
                    return paths
        return None

    def _meta_or_none(self, name: str) -> ConversationMeta | None:
        """None if it was renamed or destroyed a moment ago, and so looks empty."""
        paths = self._layout.folder(name)
        known = ConversationMeta(id="", name=name)
        with suppress(OSError):
            known = self._load_meta(paths)
        return known if known.id or os.path.lexists(paths.folder) else None

    def _load_meta(self, paths: ConversationPaths) -> ConversationMeta:
        """The metadata, with the time of the last message from the transcript if a crash kept it from being saved. A
        newer file may also be a copy, so its entries count, not its time.
        """
        known = paths.load_meta()
        if known.last_message_ms and not self._modified_ms(paths) > known.last_message_ms + 60_000:
            return known
        last_ms = 0
        for path in (paths.active, paths.file(legacy.LEGACY_TRANSCRIPT), paths.window):
            with suppress(OSError):
                last_ms = last_ms or last_entry_ms(path)
        return known._replace(last_message_ms=max(known.last_message_ms, last_ms))

    def _modified_ms(self, paths: ConversationPaths) -> int:
        for path in (paths.active, paths.file(legacy.LEGACY_TRANSCRIPT), paths.window):
            with suppress(OSError):
                return os.stat(path).st_mtime_ns // 1_000_000
        return 0

    def _destroy_if_expired(self, name: str, now: int) -> bool:
        """Destroy it if it has expired; the expiry may change until the lease is taken."""
        paths = self._layout.paths(name)
        # A holder that was killed has not noted its last activity.
        since = self._modified_ms(paths) // 1000 if lease.is_abandoned(paths.lock) else 0

        def is_expired() -> bool:
            expiry, active = self.session.expiries().get(name, (Expiry(), 0))
            return _is_expired(expiry, active, now) and _is_expired(expiry, since or active, now)

        return is_expired() and self._destroy(name, is_expired)

    def _purge_leftovers(self) -> None:
        """Remove what crashes have left, unless it is new and so may be in use."""
        remove_leftovers(self._layout.home)
        with suppress(FileNotFoundError):
            for name in os.listdir(self._layout.contexts):
                folder = self._layout.folder(name).folder
                if name.startswith((DESTROYED_PREFIX, NEW_PREFIX)) and time.time() - os.lstat(folder).st_mtime > 60:
                    shutil.rmtree(folder, ignore_errors=True)


def open_stores(home: str) -> ConversationStores:
    """The conversations of a home, which is created when something is stored. Raises: Unavailable if it is a file."""
    try:
        os.stat(os.path.join(home, ""))  # the slash: a file of that name is an error
    except NotADirectoryError as error:
        raise Unavailable(f"the home '{quote_path(home)}' is not a folder") from error
    except OSError:
        pass  # reported where it is used, with what it was used for
    store = FileConversations(home)
    return ConversationStores(store, store, store.session, store.inbox, store)


def _is_expired(expiry: Expiry, active: int, now: int) -> bool:
    """Without a known activity a conversation does not expire by inactivity."""
    return 1 <= expiry.at < now or (expiry.after_inactive >= 1 and active >= 1 and now > active + expiry.after_inactive)


def _rename_into_place(folder: str, paths: ConversationPaths) -> None:
    """Raises: Conflict if the name is taken; OSError."""
    if os.path.lexists(paths.folder):
        raise Conflict(f"there is a conversation '{paths.name}' already")
    try:
        os.rename(folder, paths.folder)
    except OSError as error:
        # Another process was faster.
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            raise Conflict(f"there is a conversation '{paths.name}' already") from error
        raise
