"""All conversations of a home, as folders."""

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice

from marid.adapters.store import history, lease, meta, migration, older
from marid.adapters.store.conversation import StoredConversation
from marid.adapters.store.entries import encode
from marid.adapters.store.files import remove_leftovers, sync_folder, told, write_whole
from marid.adapters.store.inbox import FileInbox
from marid.adapters.store.layout import CORPSE, NEWBORN, Layout, Place
from marid.adapters.store.registry import Registry
from marid.adapters.store.transcript import StoredTranscript, creation
from marid.core.conversation import Conflict, Corrupt, Expiry, Hit, Holder, Meta, Storage, Swept
from marid.core.entry import Entry
from marid.core.errors import MaridError, NotFound, Unavailable
from marid.core.ids import new_id
from marid.text.names import check_name, is_name
from marid.workspace.private import private_folder


class FileConversations:
    """The ports Conversations and Lifetimes; `session` and `inbox` are the two others."""

    def __init__(self, home: str, storage: Storage | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self._layout = Layout(os.path.abspath(home))
        self._storage = (storage or Storage()).floored()
        self._clock = clock
        self.session = Registry(self._layout)
        self.inbox = FileInbox(self._found, clock)

    def list(self) -> tuple[Meta, ...]:
        """As in the port; of one that cannot be read only the name is known."""
        with told(f"reading '{self._layout.contexts}'"):
            return tuple(filter(None, map(self._listed, self._layout.names())))

    def look(self, key: str) -> Meta:
        """As in the port."""
        with told(f"reading the conversation '{key}'"):
            return self._known(self._place(key))

    def name_of(self, key: str) -> str:
        """As in the port."""
        with told(f"reading the conversation '{key}'"):
            try:
                return self._place(key).name
            except NotFound:
                return key

    def create(self, name: str = "", *, source: str = "CLI", title: str = "") -> Meta:
        """As in the port."""
        with told(f"making the conversation '{name}'"):
            if name and (other := self._by_id(check_name(name))) is not None:
                raise Conflict(f"'{name}' is the id of the conversation '{other.name}'")
        return self._new(name, source, title)

    def _new(self, name: str, source: str, title: str) -> Meta:
        """The folder is made whole elsewhere and then given its name."""
        key = new_id()
        place = self._layout.place(name or key)
        known = Meta(id=key, name=place.name, source=source, title=title, created_ms=round(self._clock() * 1000))
        with told(f"making the conversation '{place.name}'"):
            private_folder(self._layout.contexts)
            unborn = Place(self._layout.home, self._folder(NEWBORN + key))
            try:
                private_folder(unborn.partitions)
                meta.save(unborn, known)
                write_whole(unborn.active, encode(creation(known)._replace(sequence=1)))
                sync_folder(unborn.folder)
                _give_name(unborn.folder, place)
            except BaseException:
                shutil.rmtree(unborn.folder, ignore_errors=True)
                raise
            sync_folder(self._layout.contexts)
        return known

    def open(self, key: str, *, wait: float = 0.0, create: bool = False) -> StoredConversation:
        """As in the port."""
        with told(f"opening the conversation '{key}'"):
            place, held = self._held(key, wait, self._storage.lock_heartbeat_seconds, create=create)
            try:
                opened = self._opened(place, held)
            except BaseException:
                held.release()
                raise
        self._use(place)
        return opened

    def _use(self, place: Place) -> None:
        """Note that something happens there; on a full disk it is still as active as it was."""
        with suppress(Unavailable):
            self.session.use(place.name, int(self._clock()))

    def read(self, key: str) -> StoredTranscript:
        """As in the port."""
        with told(f"reading the conversation '{key}'"):
            return StoredTranscript(self._layout.sound(self._place(key)), self._storage)

    def rename(self, key: str, name: str) -> Meta:
        """As in the port."""
        target = self._layout.place(name)
        with told(f"renaming the conversation '{key}'"):
            place = self._place(key)
            if place.name == name:
                return self._known(place)
            self._is_free(target, place)
            place, held = self._held(key)
            try:
                self._move(place, target)
                return self._known(target)
            finally:
                held.release()

    def _is_free(self, target: Place, place: Place) -> None:
        """Raises: Conflict when another one has that name or that id."""
        other = self._by_id(target.name)
        if os.path.lexists(target.folder) or (other is not None and other != place):
            raise Conflict(f"there is a conversation '{target.name}' already")

    def _move(self, old: Place, new: Place) -> None:
        """Let what is known by name know the new one; where that cannot be written, the old one stays."""

        def move() -> None:
            with told(f"renaming the conversation '{old.name}'"):
                _give_name(old.folder, new)
                sync_folder(self._layout.contexts)

        try:
            with suppress(Corrupt):
                self.session.rename(old.name, new.name, move)
        except Unavailable:
            with suppress(OSError, Conflict):
                _give_name(new.folder, old)
            raise

    def archive(self, key: str, *, away: bool = True) -> Meta:
        """As in the port."""
        now = round(self._clock() * 1000)
        with self.open(key) as held:
            return held.change(lambda known: known._replace(archived_ms=(known.archived_ms or now) if away else 0))

    def destroy(self, key: str) -> None:
        """As in the port."""
        self._destroy(key, lambda: True)

    def _destroy(self, key: str, is_due: Callable[[], bool]) -> bool:
        """Once it is held, and if it is still due. The folder loses its name first: what a crash leaves of it is no
        conversation.
        """
        with told(f"destroying the conversation '{key}'"):
            place, held = self._held(key)
            try:
                if not is_due():
                    return False
                corpse = self._folder(CORPSE + new_id())
                os.rename(place.folder, corpse)
                sync_folder(self._layout.contexts)
            finally:
                held.release()
            shutil.rmtree(corpse, ignore_errors=True)
        with suppress(Corrupt):
            self.session.forget(place.name)
        return True

    def holder(self, key: str) -> Holder | None:
        """As in the port."""
        with told(f"reading the conversation '{key}'"):
            return lease.holder(self._place(key).lock)

    def search(
        self, query: str, *, whole: bool = False, tell: Callable[[str], None] = lambda _problem: None
    ) -> Iterator[Hit]:
        """As in the port."""
        with told(f"reading '{self._layout.contexts}'"):
            names = self._layout.names()
        for name in names:
            try:
                read = self.read(name)
                for entry in read.search(query, whole=whole):
                    yield Hit(name, entry)
                for problem in read.problems():
                    tell(problem)
            except MaridError as error:
                tell(str(error))

    def expiry(self, key: str) -> Expiry:
        """As in the port."""
        known = self.session.expiries().get(self.look(key).name)
        return known[0] if known else Expiry()

    def expire(self, key: str, expiry: Expiry) -> None:
        """As in the port."""
        self.session.expire(self.look(key).name, expiry, int(self._clock()))

    def sweep(self) -> Swept:
        """As in the port."""
        now = int(self._clock())
        gone: list[str] = []
        for name, (expiry, active) in self.session.expiries().items():
            if is_name(name) and _is_over(expiry, active, now):
                with suppress(MaridError, OSError):
                    if self._end(name, now):
                        gone.append(name)
        with told(f"reading '{self._layout.contexts}'"):
            self._bury()
            problem = self.session.sync(self._layout.names, now)
        return Swept(tuple(gone), problem)

    def _opened(self, place: Place, held: lease.Lease) -> StoredConversation:
        held.check()
        private_folder(place.transcript())
        remove_leftovers(place.folder)
        remove_leftovers(place.transcript())
        known = meta.load_sound(place)
        foreign = None
        if not known.id:
            migration.move_old_transcript(place, self._storage)
            foreign = older.old_window(place)
        opened = StoredConversation(place, self._storage, held, self._clock, on_close=lambda: self._use(place))
        try:
            if not known.id:
                begun = known.created_ms or self._begun(place, [*islice(opened.entries(), 1), *(foreign or ())])
                migration.adopt(opened, place, foreign)
                opened.identify(new_id(), begun)
            opened.begin()
            opened.notice_prompt()
        except BaseException:
            # The window of another program stays until all that it holds is in the transcript.
            opened.let_go()
            raise
        return opened

    def _begun(self, place: Place, entries: Iterable[Entry]) -> int:
        """When a conversation of another program began: the earliest time that anything says."""
        told_ms = [self.session.created(place.name) * 1000, older.created(place) * 1000]
        told_ms += [entry.time_ms for entry in entries]
        return min(filter(None, told_ms), default=round(self._clock() * 1000))

    def _held(
        self, key: str, wait: float = 0.0, heartbeat: float = 0.0, *, create: bool = False
    ) -> tuple[Place, lease.Lease]:
        """Where it is, under its lease. Raises: Held; BadInput; NotFound; OSError."""
        until = time.monotonic() + wait
        while True:
            place = self._layout.sound(self._found(key, create=create))
            left = max(0.0, until - time.monotonic())
            # One that was renamed or destroyed meanwhile may be elsewhere, or be made anew.
            with suppress(NotFound):
                return place, lease.acquire(place.lock, wait=left, heartbeat=heartbeat, clock=self._clock)

    def _found(self, key: str, *, create: bool) -> Place:
        """Where it is; with `create` it is made, though others may make and destroy it at the same time."""
        while True:
            try:
                return self._place(key)
            except NotFound:
                if not create:
                    raise
            # Somebody else may be faster.
            with suppress(Conflict):
                self._new(key, "CLI", "")

    def _place(self, key: str) -> Place:
        """By name, else by id. Raises: BadInput; NotFound; OSError."""
        try:
            return self._layout.found(key)
        except NotFound:
            if (place := self._by_id(key)) is not None:
                return place
            raise

    def _by_id(self, key: str) -> Place | None:
        """One that cannot be read has no id. Raises: OSError."""
        for name in self._layout.names():
            place = Place(self._layout.home, self._folder(name))
            with suppress(OSError):
                if meta.load(place).id == key:
                    return place
        return None

    def _listed(self, name: str) -> Meta | None:
        """What is known of it; None when it was renamed or destroyed a moment ago, and so looks like an empty one."""
        place = Place(self._layout.home, self._folder(name))
        known = Meta(id="", name=name)
        with suppress(OSError):
            known = self._known(place)
        return known if known.id or os.path.lexists(place.folder) else None

    def _folder(self, name: str) -> str:
        return os.path.join(self._layout.contexts, name)

    def _known(self, place: Place) -> Meta:
        """With what the transcript says about the last time: after a crash nobody has noted it. A file that is newer
        than what was noted may also have been copied, so what is in it counts.
        """
        known = meta.load(place)
        if known.last_message_ms and not self._changed(place) > known.last_message_ms + 60_000:
            return known
        spoken = 0
        for path in (place.active, place.file(older.TRANSCRIPT), place.window):
            with suppress(OSError):
                spoken = spoken or history.last_time(path)
        return known._replace(last_message_ms=max(known.last_message_ms, spoken))

    def _changed(self, place: Place) -> int:
        for path in (place.active, place.file(older.TRANSCRIPT), place.window):
            with suppress(OSError):
                return os.stat(path).st_mtime_ns // 1_000_000
        return 0

    def _end(self, name: str, now: int) -> bool:
        """Destroy it if its time has come, which somebody may put off until it is held."""
        place = self._layout.place(name)
        # Who was killed in the midst of it has not noted until when it was used.
        since = self._changed(place) // 1000 if lease.was_left(place.lock) else 0

        def is_over() -> bool:
            expiry, active = self.session.expiries().get(name, (Expiry(), 0))
            return _is_over(expiry, active, now) and _is_over(expiry, since or active, now)

        return is_over() and self._destroy(name, is_over)

    def _bury(self) -> None:
        """Remove what interrupted destroying, making and writing have left, unless somebody is at it right now."""
        remove_leftovers(self._layout.home)
        with suppress(FileNotFoundError):
            for name in os.listdir(self._layout.contexts):
                if name.startswith((CORPSE, NEWBORN)):
                    self._bury_old(self._folder(name))

    def _bury_old(self, folder: str) -> None:
        with suppress(FileNotFoundError):
            if time.time() - os.lstat(folder).st_mtime > 60:
                shutil.rmtree(folder, ignore_errors=True)


def _is_over(expiry: Expiry, active: int, now: int) -> bool:
    """By the one file that other programs keep as well; one in which nothing is known to have happened stays."""
    return 1 <= expiry.at < now or (expiry.after_inactive >= 1 and active >= 1 and now > active + expiry.after_inactive)


def _give_name(folder: str, place: Place) -> None:
    """Raises: Conflict when there is something of that name; OSError."""
    if os.path.lexists(place.folder):
        raise Conflict(f"there is a conversation '{place.name}' already")
    try:
        os.rename(folder, place.folder)
    except OSError as error:
        # Somebody was faster, by a moment.
        if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
            raise Conflict(f"there is a conversation '{place.name}' already") from error
        raise
