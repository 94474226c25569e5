"""The Beads workspace of a project, detected at every call: one may be created while we run."""

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
    """The port BeadsWorkspace for the first root of a scope; `bd` is searched in the PATH of `env`."""

    def __init__(
        self, scope: PathScope, env: Mapping[str, str], *, actor: str = "marid", clock: Callable[[], datetime] = _now
    ) -> None:
        self._scope = scope
        self._env = env
        self._actor = actor
        self._clock = clock

    def list_all(self) -> BeadListing:
        return self._detect().list_all()

    def list_ready(self) -> BeadListing:
        return self._detect().list_ready()

    def create(self, title: str, description: str) -> BeadsPlan:
        return self._detect().create(title, description)

    def update(self, bead_id: str, status: str) -> BeadsPlan:
        return self._detect().update(bead_id, status)

    def _detect(self) -> BeadsWorkspace:
        root, entries = self._find_folder()
        kinds = {entry.name: entry.kind for entry in entries}
        if "redirect" in kinds:
            raise Refused("'.beads/redirect' points to the workspace of another project: run the command there")
        database = _describe_database(kinds)
        marked = bool(database) or any(name in kinds for name in WORKSPACE_FILES)
        if not marked and ISSUES not in kinds:
            raise NotFound(NO_WORKSPACE)
        program = programs.find("bd", self._env)
        # For `bd` a folder with nothing but the issues is not a workspace.
        if program and marked:
            return BeadsProgram(program=program, root=root.root.path, env=self._env, actor=self._actor)
        return BeadsFile(root=root, now=self._clock(), actor=self._actor, database=database)

    def _find_folder(self) -> tuple[GuardedPath, list[FolderEntry]]:
        try:
            root = self._scope.resolve(".")
            return root, root.below(".beads").entries()
        except (NotFound, BadInput) as cause:
            raise NotFound(NO_WORKSPACE) from cause


def _describe_database(kinds: Mapping[str, str]) -> str:
    """The database that has the issues, if any; `vc.db` and backups do not count."""
    for name in DATABASES:
        if kinds.get(name) == "dir":
            return f"the database in .beads/{name}"
    for name in kinds:
        if name.endswith(".db") and name != "vc.db" and "backup" not in name:
            return f"the database .beads/{name}"
    return ""
