"""Beads by the `bd` program in its JSON mode. Reads run it here; changes are planned as commands."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from marid.adapters.process import programs
from marid.adapters.process.programs import ProgramLimits
from marid.core.errors import MaridError, NotFound, Unavailable
from marid.ports.beads import NO_WORKSPACE, Bead, BeadListing, BeadsCommand
from marid.text import issue_lines
from marid.text.display import escape_text

LIMITS = ProgramLimits(timeout=20.0, max_output=16 << 20)
INHERITED_VARIABLES = ("HOME", "XDG_CONFIG_HOME", "LANG", "LC_ALL", "USER", "LOGNAME", "TMPDIR")
MAX_ERROR_LENGTH = 300


@dataclass(frozen=True, kw_only=True)
class BeadsProgram:
    """The port BeadsWorkspace. `program` is the path of `bd`, `root` the folder with `.beads`."""

    program: str
    root: str
    env: Mapping[str, str]
    actor: str
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
        env = {"PATH": programs.absolute_search_path(self.env.get("PATH", "")), **kept, **self._environment}
        done = programs.run([self.program, *args, "--json"], cwd=self.root, env=env, limits=self.limits)
        out, err = done.out.decode("utf-8", "replace"), done.err.decode("utf-8", "replace")
        if done.status:
            raise _error_from(done.status, err)
        return BeadListing(beads=tuple(_parse_bead(record) for record in _parse_records(out)))

    def _plan_command(self, message: str, *args: str) -> BeadsCommand:
        settings = [f"{name}={value}" for name, value in self._environment.items()]
        argv = ("/usr/bin/env", *settings, self.program, *args, "--json")

        def report(status: int, out: str, err: str) -> str:
            if status:
                raise _error_from(status, err)
            names = [_parse_bead(record).id for record in _parse_records(out)]
            return message.format(escape_text(names[0] if names else ""))

        return BeadsCommand(argv=argv, shown=shlex.join(argv), report=report)


def _parse_records(out: str) -> list[issue_lines.IssueRecord]:
    """An array, one object, or either of them in an envelope."""
    payload = _first_json(out)
    if isinstance(payload, dict) and "data" in payload and "id" not in payload:
        payload = cast("dict[str, Any]", payload)["data"]
    listed = cast("list[object]", payload if isinstance(payload, list) else [payload])
    if not all(isinstance(record, dict) for record in listed):
        raise Unavailable("`bd` did not print a list of issues")
    return cast("list[issue_lines.IssueRecord]", listed)


def _parse_bead(record: issue_lines.IssueRecord) -> Bead:
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
    report = _first_json(err)
    found = cast("dict[str, Any]", report) if isinstance(report, dict) else {}
    words = issue_lines.string_field(found, "error") or err.strip().partition("\n")[0] or f"exit status {status}"
    plain = escape_text(words)[:MAX_ERROR_LENGTH]
    if "no beads database" in words.lower():
        return NotFound(NO_WORKSPACE)
    if "not_found" in issue_lines.string_field(found, "code").lower() or "not found" in words.lower():
        return NotFound(f"`bd`: {plain}")
    return Unavailable(f"`bd` failed: {plain}")
