"""The files below a home and the metadata of conversations; every name that becomes a folder is checked here."""

import os
import stat
from contextlib import AbstractContextManager
from typing import NamedTuple, cast

from marid.adapters.store.files import (
    file_lock,
    is_time,
    parse_object,
    pretty_json,
    read_bytes,
    require_object,
    write_atomic,
)
from marid.core.conversation.records import NOTES, ConversationMeta
from marid.core.errors import BadInput, NotFound, Refused
from marid.text.conversation_names import check_conversation_name, is_conversation_name
from marid.workspace.plain_files import make_private_folder

DESTROYED_PREFIX = ".destroyed-"
NEW_PREFIX = ".new-"
# `context_meta.json`; fields of other programs, such as Chibi, are preserved.
_TEXT_FIELDS = ("id", "title", "provider", "model", "source", "owner")
_TIME_FIELDS = {"createdAt": "created_ms", "lastMessageAt": "last_message_ms", "archivedAt": "archived_ms"}


class ConversationPaths(NamedTuple):
    """The files of one conversation."""

    home: str
    folder: str

    def file(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def transcript_file(self, name: str = "") -> str:
        """A file of the transcript, or its folder."""
        return os.path.join(self.folder, "transcript", name) if name else os.path.join(self.folder, "transcript")

    @property
    def name(self) -> str:
        return os.path.basename(self.folder)

    @property
    def meta(self) -> str:
        return self.file("context_meta.json")

    @property
    def window(self) -> str:
        """The entries since the last anchor."""
        return self.file("context.jsonl")

    @property
    def lock(self) -> str:
        return self.file(".lock")

    @property
    def active(self) -> str:
        """The partition that entries are appended to."""
        return self.transcript_file("active.jsonl")

    @property
    def partitions(self) -> str:
        """The folder of the sealed partitions."""
        return self.transcript_file("partitions")

    def note(self, name: str) -> str:
        """The file of one of NOTES. Raises: BadInput."""
        if name not in NOTES:
            raise BadInput(f"unknown note '{name}': use one of {', '.join(NOTES)}")
        if name == "reflection":
            return os.path.join(self.home, "prompts", "reflection.md")
        return self.file(f"{name}.md")

    def make_folders(self) -> None:
        """Create the folder and those of the transcript. Raises: OSError."""
        make_private_folder(self.partitions)

    def make_transcript_folder(self) -> None:
        """As `make_folders`, without the one of the partitions. Raises: OSError."""
        make_private_folder(self.transcript_file())

    def refuse_links(self) -> "ConversationPaths":
        """Raises: Refused if the transcript is a link, which may lead out of the home."""
        for folder in (self.transcript_file(), self.partitions):
            if os.path.islink(folder):
                raise Refused(f"'{folder}' is a link, not the folder of a transcript")
        return self

    def load_meta(self) -> ConversationMeta:
        """The metadata, without an id if there is none yet; a damaged file counts as empty. Raises: OSError."""
        return self._meta_from(parse_object(read_bytes(self.meta)) or {})

    def load_meta_strict(self) -> ConversationMeta:
        """As `load_meta`, before a write, which would lose the content of a damaged file. Raises: OSError; Corrupt."""
        data = (read_bytes(self.meta) or b"").strip()
        return self._meta_from(require_object(self.meta, data) if data else {})

    def _meta_from(self, fields: dict[str, object]) -> ConversationMeta:
        found: dict[str, object] = {}
        for name in _TEXT_FIELDS:
            if isinstance(value := fields.get(name), str):
                found[name] = value
                del fields[name]
        for name, attribute in _TIME_FIELDS.items():
            if is_time(value := fields.get(name)):
                found[attribute] = value
                del fields[name]
        if isinstance(flags := fields.get("flags"), dict):
            found["flags"] = cast("dict[str, object]", flags)
            del fields["flags"]
        seconds = fields.get("created_at")
        if "created_ms" not in found and is_time(seconds):
            found["created_ms"] = seconds * 1000
        return ConversationMeta(id="", name=self.name, extra=fields)._replace(**found)

    def save_meta(self, meta: ConversationMeta) -> None:
        """Replace the metadata. Raises: OSError."""
        fields: dict[str, object] = {**meta.extra}
        for name in _TEXT_FIELDS:
            if name != "owner" or meta.owner:
                fields[name] = getattr(meta, name)
        fields["flags"] = dict(meta.flags)
        for name, attribute in _TIME_FIELDS.items():
            if value := getattr(meta, attribute):
                fields[name] = value
        write_atomic(self.meta, pretty_json(fields))


class HomeLayout(NamedTuple):
    """The files of one home."""

    home: str

    @property
    def contexts(self) -> str:
        return os.path.join(self.home, "contexts")

    def file(self, name: str) -> str:
        return os.path.join(self.home, name)

    def lock(self, *, wait: bool) -> AbstractContextManager[None]:
        """Exclude other processes from the files of the home. Raises: OSError; BlockingIOError without `wait`."""
        make_private_folder(self.home)
        return file_lock(self.file(".state.lock"), wait=wait)

    def folder(self, name: str) -> ConversationPaths:
        """The paths of a folder whose name is known to be valid, or is not one of a conversation."""
        return ConversationPaths(self.home, os.path.join(self.contexts, name))

    def paths(self, name: str) -> ConversationPaths:
        """The paths of a conversation, which need not exist. Raises: BadInput."""
        return self.folder(check_conversation_name(name))

    def existing_paths(self, name: str) -> ConversationPaths:
        """Raises: BadInput; NotFound; Refused if the folder is a link; OSError."""
        paths = self.paths(name)
        try:
            mode = os.lstat(paths.folder).st_mode
        except FileNotFoundError:
            raise NotFound(f"there is no conversation '{name}'") from None
        if not stat.S_ISDIR(mode):
            raise Refused(f"'{paths.folder}' is a link or a file, not the folder of a conversation")
        return paths

    def conversation_names(self) -> list[str]:
        """The names of all conversations, sorted. Raises: OSError."""
        try:
            with os.scandir(self.contexts) as rows:
                return sorted(
                    row.name for row in rows if is_conversation_name(row.name) and row.is_dir(follow_symlinks=False)
                )
        except FileNotFoundError:
            return []
