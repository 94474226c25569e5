"""All conversations of a home, as folders."""

import errno
import os
import shutil
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice

from marid.adapters.store import lease, legacy, meta, migration, snapshot
from marid.adapters.store.atomic_files import disk_errors, remove_leftovers, sync_folder, write_atomic
from marid.adapters.store.change_watcher import ChangeWatcher
from marid.adapters.store.entry_lines import encode_line
from marid.adapters.store.home_state import HomeState
from marid.adapters.store.inbox import FileInbox
from marid.adapters.store.layout import DESTROYED_PREFIX, NEW_PREFIX, ConversationPaths, HomeLayout
from marid.adapters.store.open_conversation import OpenConversation
from marid.adapters.store.transcript_reader import TranscriptReader, creation_anchor
from marid.core.conversation.entry import Entry
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
from marid.core.ids import new_id
from marid.text.conversation_names import check_conversation_name, is_conversation_name
from marid.workspace.write.private_folders import make_private_folder


class FileConversations:
    """Conversations, ConversationLifetimes and ConversationFiles; `session` and `inbox` are the other ports."""

    def __init__(self, home: str, *, clock: Callable[[], float] = time.time) -> None:
        self._layout = HomeLayout(os.path.abspath(home))
        self._clock = clock
        self.session = HomeState(self._layout)
        self.inbox = FileInbox(self._locate_or_create, clock)
        self._watcher = ChangeWatcher()

    def list(self, owner: str = "", *, after: str = "", limit: int = 0) -> tuple[ConversationMeta, ...]:
        """As in the port."""
        with disk_errors(f"reading '{self._layout.contexts}'"):
            names = self._layout.conversation_names()
            found = map(self._meta_or_none, names[bisect_right(names, after) :])
            return tuple(islice((meta for meta in found if meta and meta.owner == owner), limit or None))

    def get_meta(self, key: str) -> ConversationMeta:
        """As in the port."""
        with disk_errors(f"reading the conversation '{key}'"):
            return self._load_meta(self._locate(key))

    def resolve_name(self, key: str) -> str:
        """As in the port."""
        with disk_errors(f"reading the conversation '{key}'"):
            try:
                return self._locate(key).name
            except NotFound:
                return key

    def create(self, name: str = "", *, source: str = "CLI", title: str = "", owner: str = "") -> ConversationMeta:
        """As in the port."""
        with disk_errors(f"making the conversation '{name}'"):
            if name and (other := self._find_by_id(check_conversation_name(name))) is not None:
                raise Conflict(f"'{name}' is the id of the conversation '{other.name}'")
        return self._create(ConversationMeta(id="", name=name, source=source, title=title, owner=owner))

    def _create(self, known: ConversationMeta) -> ConversationMeta:
        """The folder is made whole elsewhere and then given its name."""
        key = new_id()
        paths = self._layout.paths(known.name or key)
        known = known._replace(id=key, name=paths.name, created_ms=round(self._clock() * 1000))
        with disk_errors(f"making the conversation '{paths.name}'"):
            make_private_folder(self._layout.contexts)
            unborn = ConversationPaths(self._layout.home, self._folder(NEW_PREFIX + key))
            try:
                make_private_folder(unborn.partitions)
                meta.save(unborn, known)
                write_atomic(unborn.active, encode_line(creation_anchor(known)._replace(id=new_id(), sequence=1)))
                sync_folder(unborn.folder)
                _rename_into_place(unborn.folder, paths)
            except BaseException:
                shutil.rmtree(unborn.folder, ignore_errors=True)
                raise
            sync_folder(self._layout.contexts)
        return known

    def open(
        self, key: str, storage: StorageSettings = DEFAULT_STORAGE, *, wait: float = 0.0, create: bool = False
    ) -> OpenConversation:
        """As in the port."""
        storage = storage.with_minimums()
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
        """Note that something happens there; on a full disk it is still as active as it was."""
        with suppress(Unavailable):
            self.session.record_activity(paths.name, int(self._clock()))

    def read(self, key: str) -> TranscriptReader:
        """As in the port."""
        with disk_errors(f"reading the conversation '{key}'"):
            return TranscriptReader(self._layout.refuse_links(self._locate(key)), DEFAULT_STORAGE)

    def rename(self, key: str, name: str) -> ConversationMeta:
        """As in the port."""
        target = self._layout.paths(name)
        with disk_errors(f"renaming the conversation '{key}'"):
            paths = self._locate(key)
            if paths.name == name:
                return self._load_meta(paths)
            self._check_name_free(target, paths)
            paths, held = self._acquire(key)
            try:
                self._rename_folder(paths, target)
                return self._load_meta(target)
            finally:
                held.release()

    def _check_name_free(self, target: ConversationPaths, paths: ConversationPaths) -> None:
        """Raises: Conflict when another one has that name or that id."""
        other = self._find_by_id(target.name)
        if os.path.lexists(target.folder) or (other is not None and other != paths):
            raise Conflict(f"there is a conversation '{target.name}' already")

    def _rename_folder(self, old: ConversationPaths, new: ConversationPaths) -> None:
        """Let what is known by name know the new one; where that cannot be written, the old one stays."""

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
        """As in the port."""
        now = round(self._clock() * 1000)
        with self.open(key, storage) as held:
            return held.update_meta(
                lambda known: known._replace(archived_ms=(known.archived_ms or now) if archived else 0)
            )

    def destroy(self, key: str) -> None:
        """As in the port."""
        self._destroy(key, lambda: True)

    def _destroy(self, key: str, is_due: Callable[[], bool]) -> bool:
        """Once it is held, and if it is still due. The folder loses its name first: what a crash leaves of it is no
        conversation.
        """
        with disk_errors(f"destroying the conversation '{key}'"):
            paths, held = self._acquire(key)
            try:
                if not is_due():
                    return False
                corpse = self._folder(DESTROYED_PREFIX + new_id())
                os.rename(paths.folder, corpse)
                sync_folder(self._layout.contexts)
            finally:
                held.release()
            shutil.rmtree(corpse, ignore_errors=True)
        with suppress(Corrupt):
            self.session.forget(paths.name)
        return True

    def holder(self, key: str) -> LeaseHolder | None:
        """As in the port."""
        with disk_errors(f"reading the conversation '{key}'"):
            return lease.current_holder(self._locate(key).lock)

    def search(
        self, query: str, *, whole: bool = False, on_problem: Callable[[str], None] = lambda _problem: None
    ) -> Iterator[ConversationHit]:
        """As in the port."""
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
        """As in the port."""
        with disk_errors(f"reading the conversation '{key}'"):
            return self._watcher.subscribe(self._locate(key).active, wake)

    def settings_folder(self, name: str) -> str:
        """As in the port."""
        return self._layout.paths(name).folder

    def log_file(self, name: str, file: str) -> str:
        """As in the port."""
        return self._layout.paths(name).file(file)

    def expiry(self, key: str) -> Expiry:
        """As in the port."""
        known = self.session.expiries().get(self.get_meta(key).name)
        return known[0] if known else Expiry()

    def set_expiry(self, key: str, expiry: Expiry) -> None:
        """As in the port."""
        self.session.set_expiry(self.get_meta(key).name, expiry, int(self._clock()))

    def sweep(self) -> SweepResult:
        """As in the port."""
        now = int(self._clock())
        gone: list[str] = []
        for name, (expiry, active) in self.session.expiries().items():
            if is_conversation_name(name) and _is_expired(expiry, active, now):
                with suppress(MaridError, OSError):
                    if self._destroy_if_expired(name, now):
                        gone.append(name)
        with disk_errors(f"reading '{self._layout.contexts}'"):
            self._purge_leftovers()
            problem = self.session.sync(self._layout.conversation_names, now)
        return SweepResult(tuple(gone), problem)

    def _open_leased(self, paths: ConversationPaths, storage: StorageSettings, held: lease.Lease) -> OpenConversation:
        held.check()
        make_private_folder(paths.transcript_file())
        remove_leftovers(paths.folder)
        remove_leftovers(paths.transcript_file())
        known = meta.load_strict(paths)
        foreign = None
        if not known.id:
            migration.move_old_transcript(paths, storage)
            foreign = legacy.legacy_window(paths)
        opened = OpenConversation(paths, storage, held, self._clock, on_close=lambda: self._record_activity(paths))
        try:
            if not known.id:
                begun = known.created_ms or self._earliest_time_ms(
                    paths, [*islice(opened.entries(), 1), *(foreign or ())]
                )
                migration.adopt_entries(opened, paths, foreign)
                opened.assign_id(new_id(), begun)
            opened.start_window_file()
            opened.record_edited_prompt()
        except BaseException:
            # The window of another program stays until all that it holds is in the transcript.
            opened.abandon()
            raise
        return opened

    def _earliest_time_ms(self, paths: ConversationPaths, entries: Iterable[Entry]) -> int:
        """When a conversation of another program began: the earliest time that anything says."""
        told_ms = [self.session.created_at(paths.name) * 1000, legacy.legacy_created_at(paths) * 1000]
        told_ms += [entry.time_ms for entry in entries]
        return min(filter(None, told_ms), default=round(self._clock() * 1000))

    def _acquire(
        self, key: str, wait: float = 0.0, heartbeat: float = 0.0, *, create: bool = False
    ) -> tuple[ConversationPaths, lease.Lease]:
        """Where it is, under its lease. Raises: Held; BadInput; NotFound; OSError."""
        until = time.monotonic() + wait
        while True:
            paths = self._layout.refuse_links(self._locate_or_create(key, create=create))
            left = max(0.0, until - time.monotonic())
            # One that was renamed or destroyed meanwhile may be elsewhere, or be made anew.
            with suppress(NotFound):
                return paths, lease.acquire(paths.lock, wait=left, heartbeat=heartbeat, clock=self._clock)

    def _locate_or_create(self, key: str, *, create: bool) -> ConversationPaths:
        """Where it is; with `create` it is made, though others may make and destroy it at the same time."""
        while True:
            try:
                return self._locate(key)
            except NotFound:
                if not create:
                    raise
            # Somebody else may be faster.
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
        """One that cannot be read has no id. Raises: OSError."""
        for name in self._layout.conversation_names():
            paths = ConversationPaths(self._layout.home, self._folder(name))
            with suppress(OSError):
                if meta.load(paths).id == key:
                    return paths
        return None

    def _meta_or_none(self, name: str) -> ConversationMeta | None:
        """What is known of it; None when it was renamed or destroyed a moment ago, and so looks like an empty one."""
        paths = ConversationPaths(self._layout.home, self._folder(name))
        known = ConversationMeta(id="", name=name)
        with suppress(OSError):
            known = self._load_meta(paths)
        return known if known.id or os.path.lexists(paths.folder) else None

    def _folder(self, name: str) -> str:
        return os.path.join(self._layout.contexts, name)

    def _load_meta(self, paths: ConversationPaths) -> ConversationMeta:
        """With what the transcript says about the last time: after a crash nobody has noted it. A file that is newer
        than what was noted may also have been copied, so what is in it counts.
        """
        known = meta.load(paths)
        if known.last_message_ms and not self._modified_ms(paths) > known.last_message_ms + 60_000:
            return known
        spoken = 0
        for path in (paths.active, paths.file(legacy.LEGACY_TRANSCRIPT), paths.window):
            with suppress(OSError):
                spoken = spoken or snapshot.last_entry_ms(path)
        return known._replace(last_message_ms=max(known.last_message_ms, spoken))

    def _modified_ms(self, paths: ConversationPaths) -> int:
        for path in (paths.active, paths.file(legacy.LEGACY_TRANSCRIPT), paths.window):
            with suppress(OSError):
                return os.stat(path).st_mtime_ns // 1_000_000
        return 0

    def _destroy_if_expired(self, name: str, now: int) -> bool:
        """Destroy it if its time has come, which somebody may put off until it is held."""
        paths = self._layout.paths(name)
        # Who was killed in the midst of it has not noted until when it was used.
        since = self._modified_ms(paths) // 1000 if lease.is_abandoned(paths.lock) else 0

        def is_expired() -> bool:
            expiry, active = self.session.expiries().get(name, (Expiry(), 0))
            return _is_expired(expiry, active, now) and _is_expired(expiry, since or active, now)

        return is_expired() and self._destroy(name, is_expired)

    def _purge_leftovers(self) -> None:
        """Remove what interrupted destroying, making and writing have left, unless somebody is at it right now."""
        remove_leftovers(self._layout.home)
        with suppress(FileNotFoundError):
            for name in os.listdir(self._layout.contexts):
                if name.startswith((DESTROYED_PREFIX, NEW_PREFIX)):
                    self._purge_if_old(self._folder(name))

    def _purge_if_old(self, folder: str) -> None:
        with suppress(FileNotFoundError):
            if time.time() - os.lstat(folder).st_mtime > 60:
                shutil.rmtree(folder, ignore_errors=True)


def _is_expired(expiry: Expiry, active: int, now: int) -> bool:
    """By the one file that other programs keep as well; one in which nothing is known to have happened stays."""
    return 1 <= expiry.at < now or (expiry.after_inactive >= 1 and active >= 1 and now > active + expiry.after_inactive)


def _rename_into_place(folder: str, paths: ConversationPaths) -> None:
    """Raises: Conflict when there is something of that name; OSError."""
    if os.path.lexists(paths.folder):
        raise Conflict(f"there is a conversation '{paths.name}' already")
    try:
        os.rename(folder, paths.folder)
    except OSError as error:
        # Somebody was faster, by a moment.
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            raise Conflict(f"there is a conversation '{paths.name}' already") from error
        raise
