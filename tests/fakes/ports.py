"""Small ports in memory."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, ParamSpec, TypeVar

from marid.core.errors import MaridError, NotFound, Refused, Unavailable
from marid.ports.audit import AuditRecord
from marid.ports.beads import Bead, BeadListing, BeadsPlan, BeadsRewrite
from marid.ports.job_pool import OutputJob, OutputPart
from marid.ports.processes import OnOutput, ProcessCommand, ProcessResult, SandboxState
from marid.text import issue_lines


class FakeAudit:
    """The port AuditLog. With `problem`, the first record returns it and is not stored."""

    def __init__(self, problem: str | None = None) -> None:
        self.records: list[AuditRecord] = []
        self.scripts: list[tuple[str, str]] = []
        self._problem = problem

    def record(self, record: AuditRecord) -> str | None:
        if self._problem is None:
            self.records.append(record)
        problem, self._problem = self._problem, None
        return problem

    def save_script(self, text: str, suffix: str) -> str | None:
        self.scripts.append((text, suffix))
        return f"script{suffix}"


@dataclass(kw_only=True)
class FakeBeads:
    """The port BeadsWorkspace over a list. Plans rewrite a file but do not change the list."""

    known: list[Bead] = field(default_factory=list[Bead])
    remark: str = ""

    def list_all(self) -> BeadListing:
        return BeadListing(beads=tuple(self.known), remark=self.remark)

    def list_ready(self) -> BeadListing:
        return BeadListing(beads=tuple(bead for bead in self.known if bead.status == "open"), remark=self.remark)

    def create(self, title: str, description: str) -> BeadsPlan:
        issue_lines.validate_description(description)
        return self._draft(f"Created bead of {issue_lines.validate_title(title)}")

    def update(self, bead_id: str, status: str) -> BeadsPlan:
        if issue_lines.validate_id(bead_id) not in [bead.id for bead in self.known]:
            raise NotFound(f"there is no bead '{bead_id}'")
        return self._draft(f"Updated bead {bead_id} to {issue_lines.validate_status(status)}")

    def _draft(self, text: str) -> BeadsPlan:
        return BeadsRewrite(name=".beads/issues.jsonl", before=None, after=text.encode(), text=text)


class FakeCache:
    """The port Cache. `gets` and `puts` record the calls as (kind, number of keys)."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, bytes], bytes] = {}
        self.gets: list[tuple[str, int]] = []
        self.puts: list[tuple[str, int]] = []

    def get(self, kind: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        self.gets.append((kind, len(keys)))
        return {key: self.rows[kind, key] for key in keys if (kind, key) in self.rows}

    def put(self, kind: str, rows: Mapping[bytes, bytes]) -> None:
        self.puts.append((kind, len(rows)))
        self.rows.update({(kind, key): value for key, value in rows.items()})


class FakeProcesses:
    """The port ProcessRunner. `answers` are results by the last argument, `programs` those that `find` knows."""

    def __init__(
        self, answers: Mapping[str, ProcessResult] | None = None, *, programs: Sequence[str] = (), reason: str = ""
    ) -> None:
        self.commands: list[ProcessCommand] = []
        self._answers = dict(answers or {})
        self._programs = frozenset(programs)
        self._state = SandboxState(confined=not reason, reason=reason)

    def state(self) -> SandboxState:
        return self._state

    def find(self, *names: str) -> str | None:
        return next((f"/fake/{name}" for name in names if name in self._programs), None)

    def run(
        self, command: ProcessCommand, on_output: OnOutput | None = None, stopped: Callable[[], bool] | None = None
    ) -> ProcessResult:
        if not self._state.confined and not command.unconfined:
            raise Refused(f"nothing would confine the command: {self._state.reason}")
        self.commands.append(command)
        if stopped is not None and stopped():
            return ProcessResult(status=-9, out="", err="", seconds=0.0)
        ran = self._answers.get(command.argv[-1], ProcessResult(status=0, out="", err="", seconds=0.0))
        for name, text in (("out", ran.out), ("err", ran.err)):
            if text and on_output is not None:
                on_output(name, text)
        return ran


class FakeWatch:
    """The port of file watches. All paths that `tell` got since the last set come in the next one."""

    def __init__(self) -> None:
        self.folders: list[str] = []
        self._told: SimpleQueue[str] = SimpleQueue()

    def tell(self, *paths: str) -> None:
        for path in paths:
            self._told.put(path)

    def changes(self, folders: Sequence[str], stop: Callable[[], bool]) -> Iterator[frozenset[str]]:
        for folder in folders:
            if not os.path.isdir(folder):
                raise NotFound(f'cannot watch "{folder}"')
        self.folders = [os.path.abspath(folder) for folder in folders]
        return self._sets(stop)

    def _sets(self, stop: Callable[[], bool]) -> Iterator[frozenset[str]]:
        standing = False
        while not stop():
            changed = self._waiting()
            if changed or not standing:
                standing = True
                yield changed

    def _waiting(self) -> frozenset[str]:
        found: set[str] = set()
        try:
            found.add(self._told.get(timeout=0.01))
            while True:
                found.add(self._told.get_nowait())
        except Empty:
            return frozenset(found)


P = ParamSpec("P")
T = TypeVar("T")


class InlineWorkers:
    """The port Workers; it cannot stop work that hangs."""

    def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)

    def run_all(
        self, work: Callable[..., T], calls: Sequence[tuple[Any, ...]], /, *, cost: Sequence[int] | None = None
    ) -> "list[T | Exception]":
        return [self._one(work, call) for call in calls]

    def _one(self, work: Callable[..., T], call: tuple[Any, ...]) -> "T | Exception":
        try:
            return work(*call)
        except MaridError as error:
            return error


class InlinePool:
    """The port of job pools. `jobs` counts the jobs."""

    def __init__(self) -> None:
        self.jobs = 0

    def run_jobs(self, jobs: Sequence[OutputJob]) -> Iterator[OutputPart]:
        self.jobs += len(jobs)
        for job in jobs:
            yield from job()


class FakeClipboard:
    """Keeps what it was given, or refuses everything."""

    def __init__(self, *, broken: bool = False) -> None:
        self.copied: list[bytes] = []
        self._broken = broken

    def copy(self, data: bytes) -> str:
        if self._broken:
            raise Unavailable("cannot copy to the clipboard")
        self.copied.append(data)
        return "fake"
