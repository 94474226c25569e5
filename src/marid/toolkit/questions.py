"""What a person is asked, and shown before saying yes: exactly what will happen, with nothing that deceives the eye."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from marid.core.errors import Refused
from marid.core.policy.approval import ApprovalAnswer, Question, QuestionKind
from marid.core.policy.policy import Effect
from marid.ports.processes import SandboxState
from marid.text.display import escape_invisible, find_deceptive, quote_path
from marid.text.edit.line_diff import unified_diff
from marid.toolkit.argument_errors import quote_value
from marid.toolkit.outcome import CommandPlan, PlannedChange
from marid.toolkit.spec import ToolSpec

MAX_LINES = 400
MAX_WIDTH = 1000
MAX_COMMAND = 20_000
_GRANT_FLAGS = {
    QuestionKind.EDIT: "--allow write",
    QuestionKind.COMMAND: "--allow exec",
    QuestionKind.FETCH: "--allow net",
    QuestionKind.SPAWN: "--allow spawn",
    QuestionKind.CALL: "--trust",
}


class Asker(Protocol):
    """How a face puts a question to the person in front of it."""

    async def ask(self, question: Question) -> ApprovalAnswer | None:
        """The answer, or None if no person is there (any more). Cancelled when an answer came from elsewhere."""
        ...


class Preview(NamedTuple):
    """What a question is made of. `plan` is all that the answer allows, as plain values, to be hashed."""

    kind: QuestionKind
    text: str
    plan: object
    grant: str
    always: bool

    @property
    def grant_hint(self) -> str:
        """What would make the question needless."""
        if self.kind is QuestionKind.OUTSIDE:
            return "`marid allow PATH` opens a path for good"
        is_autorun_edit = self.kind is QuestionKind.EDIT and not self.always
        return f"{'--trust' if is_autorun_edit else _GRANT_FLAGS[self.kind]} grants it for one run"


def edit_preview(spec: ToolSpec, changes: Sequence[PlannedChange], warnings: Sequence[str]) -> Preview:
    """An edit as a unified diff. "Always" is not offered with `warnings`, which say what will run the files."""
    roots = list(dict.fromkeys(change.path.root.path for change in changes))
    lines: list[str] = []
    for change in changes:
        place = change.path
        # In two roots a relative name may mean two files.
        name = f"{place.root.path.rstrip('/')}/{place.name}" if len(roots) > 1 else place.name
        lines += unified_diff(change.before, change.after, quote_path(name))
    files = "1 file" if len(changes) == 1 else f"{len(changes)} files"
    head = [f"{files} in {' and '.join(map(escape_invisible, roots))}", *(f"CAREFUL: {why}" for why in warnings)]
    plan = [[c.path.root.path, c.path.name, content_digest(c.before), content_digest(c.after)] for c in changes]
    return Preview(QuestionKind.EDIT, _preview_text(head, lines), plan, f"tool:{spec.name}", always=not warnings)


def command_preview(spec: ToolSpec, run: CommandPlan, state: SandboxState) -> Preview:
    """A command with its folder. Raises: Refused for one that is too long to be read to its end."""
    if len(run.display) > MAX_COMMAND:
        raise Refused(f"a command of {len(run.display):,} characters is too long for a person to judge")
    folder = run.cwd.root.path if run.cwd.name == "." else f"{run.cwd.root.path}/{run.cwd.name}"
    first, *rest = run.display.split("\n")
    head = [f"in {escape_invisible(folder)}"]
    if not state.confined:
        why = f" ({escape_invisible(state.reason)})" if state.reason else ""
        head.append(f"CAREFUL: nothing confines this command: there is no sandbox here{why}")
    network = "with network" if run.network else "no network"
    lines = [f"$ {first}", *(f"  {line}" for line in rest), f"({network}, at most {run.timeout:g} s)"]
    plan = [list(run.argv), run.cwd.root.path, run.cwd.name, run.network, run.timeout]
    grant = f"command:{content_digest(repr([spec.name, *plan[:-1]]).encode())}"
    return Preview(QuestionKind.COMMAND, _preview_text(head, lines), plan, grant, always=state.confined)


def call_preview(spec: ToolSpec, args: Mapping[str, Any], about: str) -> Preview:
    """A call that is asked for before its body runs; `about` is the host, or what the tool says it is about."""
    kind = {Effect.NET: QuestionKind.FETCH, Effect.SPAWN: QuestionKind.SPAWN}.get(spec.effect, QuestionKind.CALL)
    head = [escape_invisible(about)] if about else []
    lines = [f"{name}: {value if isinstance(value, str) else quote_value(value)}" for name, value in args.items()]
    grant = f"host:{about.lower()}" if kind is QuestionKind.FETCH and about else f"tool:{spec.name}"
    parts = [part for line in lines for part in line.split("\n")]
    return Preview(kind, _preview_text(head, parts), about, grant, always=True)


def outside_preview(path: str, real: str, *, writes: bool) -> Preview:
    """A path that leads out of the roots to `real`; a yes to reading it is none to writing."""
    use = "to be read and written" if writes else "to be read"
    leads = [f"(a link: it leads to {real})"] if real != path else []
    text = _preview_text([], [path, *leads, f"({use}: a file alone, a folder with all that is in it)"])
    grant = f"{'write' if writes else 'path'}:{real}"
    return Preview(QuestionKind.OUTSIDE, text, [path, real, writes], grant, always=False)


def content_digest(data: bytes | None) -> str:
    """The hash of the content, "none" if there is none."""
    import hashlib

    return "none" if data is None else hashlib.sha256(data).hexdigest()


def _preview_text(head: Iterable[str], lines: Sequence[str]) -> str:
    """Head and lines fit to be printed, with a warning above what would have deceived; too much is cut, and says so."""
    warnings = find_deceptive("\n".join(line.removesuffix("\r") for line in lines))
    careful = [f"CAREFUL: there are {' and '.join(warnings)} in it; they are shown as escapes"] if warnings else []
    body = [_shorten_line(line) for line in lines[:MAX_LINES]]
    if len(lines) > MAX_LINES:
        body.append(f"CUT: {len(lines) - MAX_LINES:,} more lines are not shown; a yes covers them too")
    return "\n".join([*head, *careful, *body])


def _shorten_line(line: str) -> str:
    if len(line) <= MAX_WIDTH:
        return escape_invisible(line)
    return f"{escape_invisible(line[:MAX_WIDTH])} CUT: {len(line) - MAX_WIDTH:,} more characters; a yes covers them too"
