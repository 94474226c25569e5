"""What a person is asked, and shown before saying yes: exactly what will happen, with nothing that deceives the eye."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from marid.core.errors import Refused
from marid.core.policy.approval import ApprovalAnswer, Decline, Question, QuestionKind
from marid.core.policy.policy import Effect
from marid.ports.processes import SandboxState
from marid.text.display import escape_invisible, find_deceptive, human_size, one_line, quote_path
from marid.text.edit.line_diff import unified_diff
from marid.toolkit.argument_errors import quote_value
from marid.toolkit.outcome import CommandPlan, PlannedChange
from marid.toolkit.spec import ToolSpec

_BYTES_PER_LINE = 64
"""What a line of `policy.plan_limit` may take: 4,000 lines are 256 KB."""
_GRANT_FLAGS = {
    QuestionKind.EDIT: "--allow write",
    QuestionKind.COMMAND: "--allow exec",
    QuestionKind.FETCH: "--allow net",
    QuestionKind.SPAWN: "--allow spawn",
    QuestionKind.CALL: "--trust",
}


class Asker(Protocol):
    """How a face puts a question to the person in front of it."""

    async def ask(self, question: Question) -> ApprovalAnswer | Decline | None:
        """The answer, or None if no person is there (any more). Cancelled when an answer came from elsewhere."""
        ...


@runtime_checkable
class PagingAsker(Asker, Protocol):
    """Shows a plan of any length to its end before it takes a yes, and waits as long as the person needs."""

    pages: Literal[True]


class Preview(NamedTuple):
    """What a question is made of. `plan` is all that the answer allows, as plain values, to be hashed.

    `covers` says in words what `grant` allows.
    """

    kind: QuestionKind
    text: str
    plan: object
    grant: str
    always: bool
    covers: str = ""

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
    covers = f"every edit by {spec.name}, except of files that other programs run by themselves"
    text, grant = _preview_text(head, lines), f"tool:{spec.name}"
    return Preview(QuestionKind.EDIT, text, plan, grant, always=not warnings, covers=covers)


def command_preview(spec: ToolSpec, run: CommandPlan, state: SandboxState) -> Preview:
    """A command with its folder."""
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
    text = _preview_text(head, lines)
    covers = f"exactly `{escape_invisible(one_line(run.display, 200))}` {head[0]}, {network}"
    return Preview(QuestionKind.COMMAND, text, plan, grant, always=state.confined, covers=covers)


def call_preview(spec: ToolSpec, args: Mapping[str, Any], about: str) -> Preview:
    """A call that is asked for before its body runs; `about` is the host, or what the tool says it is about."""
    kind = {Effect.NET: QuestionKind.FETCH, Effect.SPAWN: QuestionKind.SPAWN}.get(spec.effect, QuestionKind.CALL)
    head = [escape_invisible(about)] if about else []
    lines = [f"{name}: {value if isinstance(value, str) else quote_value(value)}" for name, value in args.items()]
    grant, covers = f"tool:{spec.name}", f"every call of {spec.name}"
    if kind is QuestionKind.FETCH and about:
        grant, covers = f"host:{about.lower()}", f"every request to {escape_invisible(about.lower())}"
    parts = [part for line in lines for part in line.split("\n")]
    return Preview(kind, _preview_text(head, parts), about, grant, always=True, covers=covers)


def outside_preview(path: str, real: str, *, writes: bool) -> Preview:
    """A path that leads out of the roots to `real`; a yes to reading it is none to writing."""
    use = "to be read and written" if writes else "to be read"
    leads = [f"(a link: it leads to {real})"] if real != path else []
    text = _preview_text([], [path, *leads, f"({use}: a file alone, a folder with all that is in it)"])
    grant = f"{'write' if writes else 'path'}:{real}"
    covers = f"{escape_invisible(real)} {use}"
    return Preview(QuestionKind.OUTSIDE, text, [path, real, writes], grant, always=False, covers=covers)


def check_plan_size(question: Question, limit: int, hint: str) -> None:
    """Raises: Refused if the text is too long to be shown at once; `limit` is in lines."""
    lines, size = question.text.count("\n") + 1, len(question.text.encode("utf-8", "replace"))
    if lines > limit or size > limit * _BYTES_PER_LINE:
        raise Refused(
            f"'{question.tool}' was refused: its plan of {lines:,} lines ({human_size(size)}) is longer than "
            f"policy.plan_limit ({limit:,} lines, {human_size(limit * _BYTES_PER_LINE)}) and cannot be paged here; "
            f"make smaller changes, or {hint}"
        )


def content_digest(data: bytes | None) -> str:
    """The hash of the content, "none" if there is none."""
    import hashlib

    return "none" if data is None else hashlib.sha256(data).hexdigest()


def _preview_text(head: Iterable[str], lines: Sequence[str]) -> str:
    """Head and lines fit to be printed, with a warning above what would have deceived. Nothing is cut."""
    warnings = find_deceptive("\n".join(line.removesuffix("\r") for line in lines))
    careful = [f"CAREFUL: there are {' and '.join(warnings)} in it; they are shown as escapes"] if warnings else []
    return "\n".join([*head, *careful, *map(escape_invisible, lines)])
