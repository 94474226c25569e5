"""JSON mode in this process: one request, and the lines that came of it."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from marid.app.app import RequestScope
from marid.app.tool_session import ToolAccess
from marid.bootstrap.wiring import open_request
from marid.faces.json_input import raise_problems, schema_problems
from marid.faces.pipe.done_line import DoneLine
from marid.faces.pipe.json_command import make_session, run_session
from marid.faces.pipe.json_lines import JsonLineWriter
from marid.faces.pipe.json_request import find_secrets, parse_request


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What came of a request: the exit code, and the lines of stdout and stderr."""

    code: int
    out: list[dict[str, Any]]
    err: list[dict[str, Any]]

    @property
    def contents(self) -> list[str]:
        return [line["content"] for line in self.out if line.get("type") == "result"]

    @property
    def entries(self) -> list[dict[str, Any]]:
        return [line for line in self.out if "entry_type" in line]

    @property
    def done(self) -> dict[str, Any]:
        return self.err[-1]

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [line for line in self.err if line["type"] == kind]


def fits(value: object, schema: Mapping[str, Any]) -> bool:
    """What a program that knows JSON schema says."""
    validator: Any = Draft202012Validator(schema)
    return validator.is_valid(value)


def lines_of(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


class Pipe:
    """JSON mode with a home and a project of its own."""

    def __init__(self, place: Path) -> None:
        self.home = place / "home"
        self.project = place / "project"
        self.project.mkdir()
        self._build = partial(
            open_request,
            cwd=str(self.project),
            home=str(self.home),
            project=str(self.project),
            environ={"HOME": str(place)},
        )

    def scope(self) -> RequestScope:
        return self._build()

    def __call__(self, command: Any, context: str = "here", reach: ToolAccess | None = None, **more: Any) -> Answer:
        return self.ask({"command": command, "context": context, **more}, reach)

    def ask(self, given: Mapping[str, Any], reach: ToolAccess | None = None) -> Answer:
        out, err = io.BytesIO(), io.BytesIO()
        wire = JsonLineWriter(out, err)
        wire.hide(find_secrets(given))
        done = DoneLine(wire, grace=600)
        with done.guard() as signals:
            run_session(make_session(self._build, parse_request(given), reach or ToolAccess(), wire), signals)
        return Answer(code=done.exit_code, out=lines_of(out.getvalue()), err=lines_of(err.getvalue()))


def check_schema(value: object, schema: Mapping[str, Any], path: str) -> None:
    """Raises: BadInput with all problems."""
    raise_problems(schema_problems(value, schema, path))
