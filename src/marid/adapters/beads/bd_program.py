"""Beads by the `bd` program in its JSON mode. Reading runs it here; changes are planned as commands."""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from marid.adapters.process import programs
from marid.adapters.process.programs import ProgramLimits
from marid.core.errors import MaridError, NotFound, Unavailable
from marid.ports.beads import NO_WORKSPACE, Bead, BeadListing, BeadsCommand
from marid.text.beads import issue_lines as beads
from marid.text.display import escape_text

LIMITS = ProgramLimits(timeout=20.0, max_output=16 << 20)
INHERITED_VARIABLES = ("HOME", "XDG_CONFIG_HOME", "LANG", "LC_ALL", "USER", "LOGNAME", "TMPDIR")
MAX_ERROR_LENGTH = 300


@dataclass(frozen=True, kw_only=True)
class BeadsProgram:
    """The port Beads. `program` is where `bd` is, `root` the folder that holds `.beads`, `env` the environment."""

    program: str
    root: str
    env: Mapping[str, str]
    actor: str
    limits: ProgramLimits = LIMITS

    def list_all(self) -> BeadListing:
        """As in the port; without these options closed issues are hidden and the list ends after some."""
        return self._query("list", "--all", "--limit", "0")

    def list_ready(self) -> BeadListing:
        """As in the port."""
        return self._query("ready", "--limit", "0")

    def create(self, title: str, description: str) -> BeadsCommand:
        """As in the port."""
        told = f"--title={beads.validate_title(title)}", f"--description={beads.validate_description(description)}"
        return self._plan_command("Created bead {}", "create", *told)

    def update(self, bead_id: str, status: str) -> BeadsCommand:
        """As in the port. An id that is not there is found out by the program only."""
        name, wanted = beads.validate_id(bead_id), beads.validate_status(status)
        if wanted == "closed":
            return self._plan_command("Updated bead {} to closed", "close", name, f"--reason=closed by {self.actor}")
        return self._plan_command(f"Updated bead {{}} to {wanted}", "update", name, f"--status={wanted}")

    @property
    def _environment(self) -> dict[str, str]:
        """The folder is named, or `bd` would also look above it and in other working trees."""
        return {"BD_JSON_ENVELOPE": "1", "BEADS_DIR": f"{self.root}/.beads", "BEADS_ACTOR": self.actor}

    def _query(self, *args: str) -> BeadListing:
        kept = {name: self.env[name] for name in INHERITED_VARIABLES if name in self.env}
        env = {"PATH": programs.absolute_search_path(self.env.get("PATH", "")), **kept, **self._environment}
        done = programs.run([self.program, *args, "--json"], cwd=self.root, env=env, limits=self.limits)
        out, err = done.out.decode("utf-8", "replace"), done.err.decode("utf-8", "replace")
        if done.status:
            raise _error_from(done.status, err)
        return BeadListing(beads=tuple(_parse_bead(record) for record in _parse_records(out)))

    def _plan_command(self, words: str, *args: str) -> BeadsCommand:
        settings = [f"{name}={value}" for name, value in self._environment.items()]
        argv = ("/usr/bin/env", *settings, self.program, *args, "--json")

        def report(status: int, out: str, err: str) -> str:
            if status:
                raise _error_from(status, err)
            # The program prints an object here and an array there.
            names = [_parse_bead(record).id for record in _parse_records(out)]
            return words.format(escape_text(names[0] if names else ""))

        return BeadsCommand(argv=argv, shown=shlex.join(argv), report=report)


def _parse_records(out: str) -> list[beads.IssueRecord]:
    """An array, one object, or either of them in an envelope."""
    payload = _first_json(out)
    if isinstance(payload, dict) and "data" in payload and "id" not in payload:
        payload = cast("dict[str, Any]", payload)["data"]
    listed = cast("list[object]", payload if isinstance(payload, list) else [payload])
    if not all(isinstance(record, dict) for record in listed):
        raise Unavailable("`bd` answered with what is no list of issues")
    return cast("list[beads.IssueRecord]", listed)


def _parse_bead(record: beads.IssueRecord) -> Bead:
    found = beads.to_bead(record)
    if not found.id:
        raise Unavailable("`bd` answered with an issue that has no id")
    return found


def _first_json(text: str) -> Any:
    """The first JSON array or object that begins a line: warnings may stand around it. None if there is none."""
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
    told = _first_json(err)
    found = cast("dict[str, Any]", told) if isinstance(told, dict) else {}
    words = beads.string_field(found, "error") or err.strip().partition("\n")[0] or f"exit status {status}"
    plain = escape_text(words)[:MAX_ERROR_LENGTH]
    if "no beads database" in words.lower():
        return NotFound(NO_WORKSPACE)
    if "not_found" in beads.string_field(found, "code").lower() or "not found" in words.lower():
        return NotFound(f"`bd`: {plain}")
    return Unavailable(f"`bd` failed: {plain}")
