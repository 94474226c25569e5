"""Which form of Beads a project has, found anew for every call: a workspace may be made while we run."""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from marid.adapters.beads.bd_program import BeadsProgram
from marid.adapters.beads.jsonl_file import BeadsFile
from marid.adapters.process import programs
from marid.core.errors import BadInput, NotFound, Refused
from marid.ports.beads import NO_WORKSPACE, BeadListing, BeadsPlan, BeadsWorkspace
from marid.workspace.guard.api import FolderEntry, GuardedPath, PathScope

DATABASES = ("embeddeddolt", "dolt")
WORKSPACE_FILES = ("metadata.json", "config.yaml")
ISSUES = "issues.jsonl"


def _now() -> datetime:
    return datetime.fromtimestamp(time.time(), UTC)


class ProjectBeads:
    """The port Beads for the first root of a territory; `env` is the user's environment, in whose PATH `bd` may be."""

    def __init__(
        self,
        territory: PathScope,
        env: Mapping[str, str],
        *,
        actor: str = "marid",
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._territory = territory
        self._env = env
        self._actor = actor
        self._clock = clock

    def list_all(self) -> BeadListing:
        """As in the port."""
        return self._detect().list_all()

    def list_ready(self) -> BeadListing:
        """As in the port."""
        return self._detect().list_ready()

    def create(self, title: str, description: str) -> BeadsPlan:
        """As in the port."""
        return self._detect().create(title, description)

    def update(self, bead_id: str, status: str) -> BeadsPlan:
        """As in the port."""
        return self._detect().update(bead_id, status)

    def _detect(self) -> BeadsWorkspace:
        root, entries = self._find_folder()
        kinds = {entry.name: entry.kind for entry in entries}
        if "redirect" in kinds:
            raise Refused("'.beads/redirect' names a workspace elsewhere: call from the project that it belongs to")
        database = _describe_database(kinds)
        marked = bool(database) or any(name in kinds for name in WORKSPACE_FILES)
        if not marked and ISSUES not in kinds:
            raise NotFound(NO_WORKSPACE)
        program = programs.find("bd", self._env)
        # A folder with nothing but the issues is no workspace for `bd`.
        if program and marked:
            return BeadsProgram(program=program, root=root.root.path, env=self._env, actor=self._actor)
        return BeadsFile(root=root, now=self._clock(), actor=self._actor, database=database)

    def _find_folder(self) -> tuple[GuardedPath, list[FolderEntry]]:
        try:
            root = self._territory.resolve(".")
            return root, root.below(".beads").entries()
        except (NotFound, BadInput) as cause:
            raise NotFound(NO_WORKSPACE) from cause


def _describe_database(kinds: Mapping[str, str]) -> str:
    """What holds the truth, if a database does; `vc.db` and backups are none."""
    for name in DATABASES:
        if kinds.get(name) == "dir":
            return f"the database in .beads/{name}"
    for name in kinds:
        if name.endswith(".db") and name != "vc.db" and "backup" not in name:
            return f"the database .beads/{name}"
    return ""
