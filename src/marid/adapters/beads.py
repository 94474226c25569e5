"""Which form of Beads a project has, found anew for every call: a workspace may be made while we run."""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from marid.adapters import processes
from marid.adapters.beads_files import BeadsFile
from marid.adapters.beads_program import BeadsProgram
from marid.core.errors import BadInput, NotFound, Refused
from marid.ports.beads import NO_WORKSPACE, Beads, Draft, Listing
from marid.workspace.guard import Entry, Place, Territory

DATABASES = ("embeddeddolt", "dolt")
MARKS = ("metadata.json", "config.yaml")
ISSUES = "issues.jsonl"


def _now() -> datetime:
    return datetime.fromtimestamp(time.time(), UTC)


class ProjectBeads:
    """The port Beads for the first root of a territory; `env` is the user's environment, in whose PATH `bd` may be."""

    def __init__(
        self,
        territory: Territory,
        env: Mapping[str, str],
        *,
        actor: str = "marid",
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._territory = territory
        self._env = env
        self._actor = actor
        self._clock = clock

    def listed(self) -> Listing:
        """As in the port."""
        return self._found().listed()

    def ready(self) -> Listing:
        """As in the port."""
        return self._found().ready()

    def create(self, title: str, description: str) -> Draft:
        """As in the port."""
        return self._found().create(title, description)

    def update(self, bead_id: str, status: str) -> Draft:
        """As in the port."""
        return self._found().update(bead_id, status)

    def _found(self) -> Beads:
        root, entries = self._folder()
        kinds = {entry.name: entry.kind for entry in entries}
        if "redirect" in kinds:
            raise Refused("'.beads/redirect' names a workspace elsewhere: call from the project that it belongs to")
        database = _database(kinds)
        marked = bool(database) or any(name in kinds for name in MARKS)
        if not marked and ISSUES not in kinds:
            raise NotFound(NO_WORKSPACE)
        program = processes.find("bd", self._env)
        # A folder with nothing but the issues is no workspace for `bd`.
        if program and marked:
            return BeadsProgram(program=program, root=root.tree.path, env=self._env, actor=self._actor)
        return BeadsFile(root=root, now=self._clock(), actor=self._actor, behind=database)

    def _folder(self) -> tuple[Place, list[Entry]]:
        try:
            root = self._territory.place(".")
            return root, root.below(".beads").entries()
        except (NotFound, BadInput) as cause:
            raise NotFound(NO_WORKSPACE) from cause


def _database(kinds: Mapping[str, str]) -> str:
    """What holds the truth, if a database does; `vc.db` and backups are none."""
    for name in DATABASES:
        if kinds.get(name) == "dir":
            return f"the database in .beads/{name}"
    for name in kinds:
        if name.endswith(".db") and name != "vc.db" and "backup" not in name:
            return f"the database .beads/{name}"
    return ""
