"""All conversations of a home, as folders."""

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from marid.adapters.store import lease, meta, migration
from marid.adapters.store.conversation import StoredConversation
from marid.adapters.store.entries import encode
from marid.adapters.store.files import make_folder, sync_folder, told, write_whole
from marid.adapters.store.inbox import FileInbox
from marid.adapters.store.layout import CORPSE, NEWBORN, Layout, Place
from marid.adapters.store.registry import Registry
from marid.adapters.store.transcript import StoredTranscript, creation
from marid.core.conversation import Conflict, Corrupt, Expiry, Hit, Holder, Meta, Storage
from marid.core.errors import MaridError, NotFound
from marid.core.ids import new_id
from marid.text.names import check_name, is_name


class FileConversations:
    """The ports Conversations and Lifetimes; `session` and `inbox` are the two others."""

    def __init__(self, home: str, storage: Storage | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self._layout = Layout(os.path.abspath(home))
        self._storage = (storage or Storage()).floored()
        self._clock = clock
        self.session = Registry(self._layout)
        self.inbox = FileInbox(self._layout, self._made, clock)

    def list(self) -> tuple[Meta, ...]:
        """As in the port."""
        with told(f"reading '{self._layout.contexts}'"):
            return tuple(self._known(Place(self._layout.home, self._folder(name))) for name in self._layout.names())

    def look(self, key: str) -> Meta:
        """As in the port."""
        with told(f"reading the conversation '{key}'"):
            return self._known(self._place(key))

    def create(self, name: str = "", *, source: str = "CLI", title: str = "") -> Meta:
        """As in the port. The folder is made whole elsewhere and then given its name."""
        key = new_id()
        place = self._layout.place(name or key)
        known = Meta(id=key, name=place.name, source=source, title=title, created_ms=round(self._clock() * 1000))
        with told(f"making the conversation '{place.name}'"):
            make_folder(self._layout.contexts)
            unborn = Place(self._layout.home, self._folder(NEWBORN + key))
            make_folder(unborn.partitions)
            meta.save(unborn, known)
            write_whole(unborn.active, encode(creation(known)._replace(sequence=1)))
            sync_folder(unborn.folder)
            try:
                _give_name(unborn.folder, place)
            except BaseException:
                shutil.rmtree(unborn.folder, ignore_errors=True)
                raise
            sync_folder(self._layout.contexts)
        return known

    def open(self, key: str, *, wait: float = 0.0, create: bool = False) -> StoredConversation:
        """As in the port."""
        with told(f"opening the conversation '{key}'"):
            try:
                place = self._place(key)
            except NotFound:
                if not create:
                    raise
                self._made(key)
                place = self._place(key)
            held = lease.acquire(
                place.lock, wait=wait, heartbeat=self._storage.lock_heartbeat_seconds, clock=self._clock
            )
            try:
                return self._opened(place, held)
            except BaseException:
                held.release()
                raise

    def read(self, key: str) -> StoredTranscript:
        """As in the port."""
        with told(f"reading the conversation '{key}'"):
            return StoredTranscript(self._place(key), self._storage)

    def rename(self, key: str, name: str) -> Meta:
        """As in the port."""
        target = self._layout.place(name)
        with told(f"renaming the conversation '{key}'"):
            place = self._place(key)
            if place.name == name:
                return self._known(place)
            held = self._taken(place)
            try:
                _give_name(place.folder, target)
                sync_folder(self._layout.contexts)
            finally:
                held.release()
        with suppress(Corrupt):
            self.session.rename(place.name, name)
        return self.look(name)

    def archive(self, key: str, *, away: bool = True) -> Meta:
        """As in the port."""
        now = round(self._clock() * 1000)
        with self.open(key) as held:
            return held.change(lambda known: known._replace(archived_ms=(known.archived_ms or now) if away else 0))

    def destroy(self, key: str) -> None:
        """As in the port. The folder loses its name first: what a crash leaves of it is no conversation."""
        with told(f"destroying the conversation '{key}'"):
            place = self._place(key)
            held = self._taken(place)
            try:
                corpse = self._folder(CORPSE + new_id())
                os.rename(place.folder, corpse)
                sync_folder(self._layout.contexts)
            finally:
                held.release()
            shutil.rmtree(corpse, ignore_errors=True)
        self.session.forget(place.name)

    def holder(self, key: str) -> Holder | None:
        """As in the port."""
        with told(f"reading the conversation '{key}'"):
            return lease.holder(self._place(key).lock)

    def search(self, query: str, *, whole: bool = False) -> Iterator[Hit]:
        """As in the port; one that cannot be read, or is destroyed meanwhile, is left out."""
        with told(f"reading '{self._layout.contexts}'"):
            names = self._layout.names()
        for name in names:
            with suppress(MaridError):
                for entry in self.read(name).search(query, whole=whole):
                    yield Hit(name, entry)

    def expiry(self, key: str) -> Expiry:
        """As in the port."""
        known = self.session.expiries().get(self.look(key).name)
        return known[0] if known else Expiry()

    def expire(self, key: str, expiry: Expiry) -> None:
        """As in the port."""
        self.session.expire(self.look(key).name, expiry, int(self._clock()))

    def sweep(self) -> tuple[str, ...]:
        """As in the port."""
        now = int(self._clock())
        gone: list[str] = []
        for name, (expiry, active) in self.session.expiries().items():
            if is_name(name) and self._is_over(name, expiry, active, now):
                with suppress(MaridError):
                    self.destroy(name)
                    gone.append(name)
        with told(f"reading '{self._layout.contexts}'"):
            self._bury()
            self.session.sync(self._layout.names(), now)
        return tuple(gone)

    def _opened(self, place: Place, held: lease.Lease) -> StoredConversation:
        make_folder(place.transcript())
        known = meta.load(place)
        foreign = None
        if not known.id:
            migration.move_old_transcript(place, self._storage)
            foreign = migration.old_window(place)
        opened = StoredConversation(place, self._storage, held, self._clock)
        if not known.id:
            migration.adopt(opened, place, foreign)
            created = known.created_ms or round(self._clock() * 1000)
            opened.identify(new_id(), created)
        opened.notice_prompt()
        return opened

    def _taken(self, place: Place) -> lease.Lease:
        return lease.acquire(place.lock, wait=0.0, heartbeat=0.0, clock=self._clock)

    def _made(self, key: str) -> None:
        """Somebody else may have been faster."""
        check_name(key)
        with suppress(Conflict):
            self.create(key)

    def _place(self, key: str) -> Place:
        """By name, else by id. Raises: BadInput; NotFound; OSError."""
        try:
            return self._layout.found(key)
        except NotFound:
            for name in self._layout.names():
                place = Place(self._layout.home, self._folder(name))
                if meta.load(place).id == key:
                    return place
            raise

    def _folder(self, name: str) -> str:
        return os.path.join(self._layout.contexts, name)

    def _known(self, place: Place) -> Meta:
        """With what the transcript's own file says about the last time: after a crash nobody has noted it."""
        known = meta.load(place)
        if known.last_message_ms and not self._changed(place) > known.last_message_ms + 60_000:
            return known
        return known._replace(last_message_ms=max(known.last_message_ms, self._changed(place)))

    def _changed(self, place: Place) -> int:
        with suppress(OSError):
            return os.stat(place.active).st_mtime_ns // 1_000_000
        return 0

    def _is_over(self, name: str, expiry: Expiry, active: int, now: int) -> bool:
        if 1 <= expiry.at < now:
            return True
        if expiry.after_inactive < 1:
            return False
        with suppress(MaridError, OSError):
            active = max(active, self.look(name).last_message_ms // 1000)
        return active >= 1 and now > active + expiry.after_inactive

    def _bury(self) -> None:
        """Remove what interrupted destroying and making have left, unless somebody is at it right now."""
        with suppress(FileNotFoundError):
            for row in os.scandir(self._layout.contexts):
                if row.name.startswith((CORPSE, NEWBORN)) and time.time() - row.stat().st_mtime > 60:
                    shutil.rmtree(row.path, ignore_errors=True)


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
