"""Beads issues: by the `bd` program, or by the JSONL file of the workspace, which is detected at every call."""

import hashlib
import json
import re
import shlex
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import count
from typing import Any

from marid.adapters.process import programs
from marid.adapters.process.programs import ProgramLimits
from marid.core.errors import BadInput, MaridError, NotFound, Refused, Unavailable
from marid.ports.beads import NO_WORKSPACE, Bead, BeadListing, BeadsCommand, BeadsPlan, BeadsRewrite, BeadsWorkspace
from marid.text import issue_lines
from marid.text.display import escape_text
from marid.text.issue_lines import IssueRecord
from marid.text.json_values import as_object, is_list, is_object
from marid.workspace.guard.api import FolderEntry, GuardedPath, PathScope

LIMITS = ProgramLimits(timeout=20.0, max_output=16 << 20)
INHERITED_VARIABLES = ("HOME", "XDG_CONFIG_HOME", "LANG", "LC_ALL", "USER", "LOGNAME", "TMPDIR")
MAX_ERROR_LENGTH = 300
ACTOR = "marid"
DATABASES = ("embeddeddolt", "dolt")
WORKSPACE_FILES = ("metadata.json", "config.yaml")
ISSUES = ".beads/issues.jsonl"
CONFIG = ".beads/config.yaml"
_PREFIX = re.compile(r"^issue-prefix:[ \t]*[\"']?([A-Za-z0-9][A-Za-z0-9_.-]{0,60})[\"']?[ \t]*(?:#.*)?$", re.M)
_CUSTOM_STATUSES = re.compile(
    r"^status\.custom:[ \t]*[\"']?([A-Za-z][\w, :-]{0,500})[\"']?[ \t]*(?:#.*)?$", re.M | re.A
)


class ProjectBeads:
    """The port BeadsWorkspace for the first root of a scope; `bd` is searched in the PATH of `env`."""

    def __init__(self, scope: PathScope, env: Mapping[str, str]) -> None:
        self._scope = scope
        self._roots = scope.writable_paths()
        self._env = programs.trusted_environment(env, self._roots)

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
        if not marked and "issues.jsonl" not in kinds:
            raise NotFound(NO_WORKSPACE)
        program = programs.find("bd", self._env, self._roots)
        # For `bd` a folder with nothing but the issues is not a workspace.
        if program and marked:
            return BeadsProgram(program=program, root=root.root.path, env=self._env)
        return BeadsFile(root=root, now=datetime.fromtimestamp(time.time(), UTC), database=database)

    def _find_folder(self) -> tuple[GuardedPath, list[FolderEntry]]:
        try:
            root = self._scope.resolve(".")
            return root, root.below(".beads").entries()
        except (NotFound, BadInput) as cause:
            raise NotFound(NO_WORKSPACE) from cause


def _describe_database(kinds: Mapping[str, str]) -> str:
    """The database that has the issues, if any; `vc.db` and backups do not count."""
    folders = (f"the database in .beads/{name}" for name in DATABASES if kinds.get(name) == "dir")
    files = (name for name in kinds if name.endswith(".db") and name != "vc.db" and "backup" not in name)
    return next(iter((*folders, *(f"the database .beads/{name}" for name in files))), "")


@dataclass(frozen=True, kw_only=True)
class BeadsProgram:
    """The port BeadsWorkspace by `bd` in its JSON mode; `program` is its path. Changes are planned as commands."""

    program: str
    root: str
    env: Mapping[str, str]
    actor: str = ACTOR
    limits: ProgramLimits = LIMITS

    def list_all(self) -> BeadListing:
        # Without these options closed issues are hidden and the list is cut.
        return self._query("list", "--all", "--limit", "0")

    def list_ready(self) -> BeadListing:
        return self._query("ready", "--limit", "0")

    def create(self, title: str, description: str) -> BeadsCommand:
        title, description = issue_lines.validate_title(title), issue_lines.validate_description(description)
        return self._plan_command("Created bead {}", "create", f"--title={title}", f"--description={description}")

    def update(self, bead_id: str, status: str) -> BeadsCommand:
        """Only the program finds out that an id does not exist."""
        name, wanted = issue_lines.validate_id(bead_id), issue_lines.validate_status(status)
        if wanted == "closed":
            return self._plan_command("Updated bead {} to closed", "close", name, f"--reason=closed by {self.actor}")
        return self._plan_command(f"Updated bead {{}} to {wanted}", "update", name, f"--status={wanted}")

    @property
    def _environment(self) -> dict[str, str]:
        """The folder is given, or `bd` would also search its parents and other working trees."""
        return {"BD_JSON_ENVELOPE": "1", "BEADS_DIR": f"{self.root}/.beads", "BEADS_ACTOR": self.actor}

    def _query(self, *args: str) -> BeadListing:
        kept = {name: self.env[name] for name in INHERITED_VARIABLES if name in self.env}
        env = {"PATH": self.env.get("PATH", ""), **kept, **self._environment}
        done = programs.run([self.program, *args, "--json"], cwd=self.root, env=env, limits=self.limits)
        if done.status:
            raise _error_from(done.status, done.err.decode("utf-8", "replace"))
        return BeadListing(beads=tuple(map(_parse_bead, _parse_records(done.out.decode("utf-8", "replace")))))

    def _plan_command(self, message: str, *args: str) -> BeadsCommand:
        settings = [f"{name}={value}" for name, value in self._environment.items()]
        argv = ("/usr/bin/env", *settings, self.program, *args, "--json")

        def report(status: int, out: str, err: str) -> str:
            if status:
                raise _error_from(status, err)
            names = [_parse_bead(record).id for record in _parse_records(out)]
            return message.format(escape_text(names[0] if names else ""))

        return BeadsCommand(argv=argv, shown=shlex.join(argv), report=report)


def _parse_records(out: str) -> list[IssueRecord]:
    """An array, one object, or either of them in an envelope."""
    payload = _first_json(out)
    if is_object(payload) and "data" in payload and "id" not in payload:
        payload = payload["data"]
    listed = payload if is_list(payload) else [payload]
    if not all(map(is_object, listed)):
        raise Unavailable("`bd` did not print a list of issues")
    return listed


def _parse_bead(record: IssueRecord) -> Bead:
    found = issue_lines.to_bead(record)
    if not found.id:
        raise Unavailable("`bd` printed an issue without an id")
    return found


def _first_json(text: str) -> Any:
    """The first JSON array or object that starts a line, since there may be warnings around it; None without any."""
    at = 0
    for line in text.split("\n"):
        if line.startswith(("[", "{")):
            try:
                return json.JSONDecoder().raw_decode(text, at)[0]
            except (ValueError, RecursionError):
                pass
        at += len(line) + 1
    return None


def _error_from(status: int, err: str) -> MaridError:
    found = as_object(_first_json(err))
    words = issue_lines.string_field(found, "error") or err.strip().partition("\n")[0] or f"exit status {status}"
    plain = escape_text(words)[:MAX_ERROR_LENGTH]
    if "no beads database" in words.lower():
        return NotFound(NO_WORKSPACE)
    if "not_found" in issue_lines.string_field(found, "code").lower() or "not found" in words.lower():
        return NotFound(f"`bd`: {plain}")
    return Unavailable(f"`bd` failed: {plain}")


@dataclass(frozen=True, kw_only=True)
class BeadsFile:
    """The port BeadsWorkspace without `bd`. `database` describes the database that the file is a copy of, if any."""

    root: GuardedPath
    now: datetime
    actor: str = ACTOR
    database: str = ""

    def list_all(self) -> BeadListing:
        return self._make_listing(self._live_records(self._read_issues() or b""))

    def list_ready(self) -> BeadListing:
        return self._make_listing(issue_lines.ready_issues(self._live_records(self._read_issues() or b""), self.now))

    def create(self, title: str, description: str) -> BeadsRewrite:
        title, description = issue_lines.validate_title(title), issue_lines.validate_description(description)
        self._check_writable()
        before = self._read_issues()
        known = [line.id for line in issue_lines.parse_issues(before or b"")]
        prefix = self._config_value(_PREFIX) or issue_lines.usual_prefix(known, self.root.root.path.rpartition("/")[2])
        name = issue_lines.new_id(prefix, self._digests(title, description), known)
        stamp = issue_lines.format_time(self.now)
        record: IssueRecord = {"id": name, "title": title, "description": description, "status": "open"}
        record |= {"priority": 2, "issue_type": "task", "created_at": stamp}
        record |= {"created_by": self.actor, "updated_at": stamp}
        after = issue_lines.with_issue(before or b"", record)
        return BeadsRewrite(name=ISSUES, before=before, after=after, text=f"Created bead {name}")

    def update(self, bead_id: str, status: str) -> BeadsRewrite:
        name = issue_lines.validate_id(bead_id)
        self._check_writable()
        before = self._read_issues()
        if before is None:
            raise NotFound(f"there is no bead '{name}': the workspace has no issues yet")
        status = issue_lines.validate_status(status, self._statuses(before))
        after = issue_lines.with_status(before, name, status, self.now)
        return BeadsRewrite(name=ISSUES, before=before, after=after, text=f"Updated bead {name} to {status}")

    def _read_issues(self) -> bytes | None:
        try:
            return self.root.below(ISSUES).read()
        except NotFound as cause:
            if self.database:
                raise Unavailable(f"only `bd` can read {self.database}, and it is not installed") from cause
            return None

    def _live_records(self, data: bytes) -> list[IssueRecord]:
        deleted = issue_lines.DELETED_STATUS
        records = (line.record for line in issue_lines.parse_issues(data))
        return [record for record in records if issue_lines.string_field(record, "status") != deleted]

    def _make_listing(self, records: list[IssueRecord]) -> BeadListing:
        remark = f"(from {ISSUES}, which may be behind {self.database}; `bd` is not installed)" if self.database else ""
        return BeadListing(beads=tuple(map(issue_lines.to_bead, records)), remark=remark)

    def _check_writable(self) -> None:
        if self.database:
            raise Refused(f"{ISSUES} is a copy of {self.database}, so a change would be lost; install `bd` (or `br`)")

    def _statuses(self, data: bytes) -> tuple[str, ...]:
        own = (part.partition(":")[0].strip() for part in self._config_value(_CUSTOM_STATUSES).split(","))
        used = (issue_lines.string_field(line.record, "status") for line in issue_lines.parse_issues(data))
        known = dict.fromkeys((*issue_lines.STATUSES, *own, *used))
        return tuple(name for name in known if name and name != issue_lines.DELETED_STATUS)

    def _config_value(self, pattern: re.Pattern[str]) -> str:
        try:
            text = self.root.below(CONFIG).read(1 << 16).decode("utf-8", "replace")
        except NotFound:
            return ""
        found = pattern.search(text)
        return found[1] if found else ""

    def _digests(self, title: str, description: str) -> Iterator[bytes]:
        for nonce in count():
            text = f"{title}|{description}|{self.actor}|{self.now.timestamp():.6f}|{nonce}"
            yield hashlib.sha256(text.encode()).digest()
