"""The files below a home and the metadata of conversations; every name that becomes a folder is checked here."""

import os
import stat
from contextlib import AbstractContextManager
from typing import NamedTuple

from marid.adapters.store import files
from marid.adapters.store.files import is_time, read_bytes
from marid.core.conversation.records import NOTES, ConversationMeta
from marid.core.errors import BadInput, NotFound, Refused
from marid.text.conversation_names import check_conversation_name, is_conversation_name
from marid.workspace.plain_files import make_private_folder

DESTROYED_PREFIX = ".destroyed-"
NEW_PREFIX = ".new-"
# `context_meta.json`; fields of other programs, such as Chibi, are preserved.
_TEXT_FIELDS = ("id", "title", "provider", "model", "source", "owner")
_TIME_FIELDS = {"createdAt": "created_ms", "lastMessageAt": "last_message_ms", "archivedAt": "archived_ms"}


class ConversationPaths:
    """The files of one conversation: the window has the entries since the last anchor; entries are appended to the
    active partition, and `partitions` is the folder of the sealed ones.
    """

    def __init__(self, home: str, folder: str) -> None:
        self.home, self.folder = home, folder
        self.name = os.path.basename(folder)
        self.meta = f"{folder}/context_meta.json"
        self.window = f"{folder}/context.jsonl"
        self.inbox = f"{folder}/inbox.jsonl"
        self.lock = f"{folder}/.lock"
        self.transcript = f"{folder}/transcript"
        self.active = f"{folder}/transcript/active.jsonl"
        self.partitions = f"{folder}/transcript/partitions"

    def file(self, name: str) -> str:
        return os.path.join(self.folder, name)

    def transcript_file(self, name: str) -> str:
        return os.path.join(self.transcript, name)

    def note(self, name: str) -> str:
        """The file of one of NOTES. Raises: BadInput."""
        if name not in NOTES:
            raise BadInput(f"unknown note '{name}': use one of {', '.join(NOTES)}")
        return f"{self.home}/prompts/reflection.md" if name == "reflection" else self.file(f"{name}.md")

    def make_folders(self, *, sealed: bool = True) -> None:
        """Create the folder of the transcript, with `sealed` also that of the partitions. Raises: OSError."""
        make_private_folder(self.partitions if sealed else self.transcript)

    def refuse_links(self) -> "ConversationPaths":
        """Raises: Refused if the transcript is a link, which may lead out of the home."""
        for folder in (self.transcript, self.partitions):
            if os.path.islink(folder):
                raise Refused(f"'{folder}' is a link, not the folder of a transcript")
        return self

    def load_meta(self) -> ConversationMeta:
        """The metadata, without an id if there is none yet; a damaged file counts as empty. Raises: OSError."""
        return self._meta_from(files.parse_object(read_bytes(self.meta)) or {})

    def load_meta_strict(self) -> ConversationMeta:
        """As `load_meta`, before a write, which would lose the content of a damaged file. Raises: OSError; Corrupt."""
        data = (read_bytes(self.meta) or b"").strip()
        return self._meta_from(files.require_object(self.meta, data) if data else {})

    def _meta_from(self, fields: dict[str, object]) -> ConversationMeta:
        found: dict[str, object] = {}
        for name in _TEXT_FIELDS:
            if isinstance(fields.get(name), str):
                found[name] = fields.pop(name)
        for name, attribute in _TIME_FIELDS.items():
            if is_time(fields.get(name)):
                found[attribute] = fields.pop(name)
        if isinstance(fields.get("flags"), dict):
            found["flags"] = fields.pop("flags")
        if "created_ms" not in found and is_time(seconds := fields.get("created_at")):
            found["created_ms"] = seconds * 1000
        return ConversationMeta(id="", name=self.name, extra=fields)._replace(**found)

    def save_meta(self, meta: ConversationMeta) -> None:
        """Replace the metadata. Raises: OSError."""
        fields: dict[str, object] = {**meta.extra}
        fields |= {name: getattr(meta, name) for name in _TEXT_FIELDS if name != "owner" or meta.owner}
        fields["flags"] = dict(meta.flags)
        fields |= {name: value for name, attribute in _TIME_FIELDS.items() if (value := getattr(meta, attribute))}
        files.write_atomic(self.meta, files.pretty_json(fields))


class HomeLayout(NamedTuple):
    """The files of one home."""

    home: str

    @property
    def contexts(self) -> str:
        return f"{self.home}/contexts"

    def file(self, name: str) -> str:
        return os.path.join(self.home, name)

    def lock(self, *, wait: bool) -> AbstractContextManager[None]:
        """Exclude other processes from the files of the home. Raises: OSError; BlockingIOError without `wait`."""
        make_private_folder(self.home)
        return files.file_lock(self.file(".state.lock"), wait=wait)

    def folder(self, name: str) -> ConversationPaths:
        """The paths of a folder whose name is known to be valid, or is not one of a conversation."""
        return ConversationPaths(self.home, f"{self.contexts}/{name}")

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
                folders = (row.name for row in rows if row.is_dir(follow_symlinks=False))
                return sorted(filter(is_conversation_name, folders))
        except FileNotFoundError:
            return []
