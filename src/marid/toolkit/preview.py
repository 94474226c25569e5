"""What a person is shown before saying yes: exactly what will happen, with nothing in it that deceives the eye."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from marid.core.approval import Kind
from marid.core.errors import Refused
from marid.core.policy import Effect
from marid.ports.processes import SandboxState
from marid.text.deceit import deceptions, laid_open
from marid.text.diff import unified
from marid.text.visible import shown_path
from marid.toolkit.complaints import shown
from marid.toolkit.outcome import Change, Run
from marid.toolkit.spec import ToolSpec

MOST_LINES = 400
MOST_WIDTH = 1000
MOST_COMMAND = 20_000


@dataclass(frozen=True, kw_only=True)
class Preview:
    """What a question is made of. `plan` is all that the answer allows, as plain values, to be hashed."""

    kind: Kind
    text: str
    plan: object
    grant: str
    always: bool


def edit_preview(spec: ToolSpec, changes: Sequence[Change], later: Sequence[str]) -> Preview:
    """An edit as a unified diff; `later` says of files in it what will run them, and "always" never covers those."""
    roots = list(dict.fromkeys(change.place.tree.path for change in changes))
    names = [_name(change, whole=len(roots) > 1) for change in changes]
    shown_changes = zip(changes, names, strict=True)
    lines = [line for change, name in shown_changes for line in unified(change.before, change.after, name)]
    files = "1 file" if len(changes) == 1 else f"{len(changes)} files"
    head = [f"{files} in {' and '.join(map(laid_open, roots))}"]
    head += [f"CAREFUL: {why}" for why in later]
    plan = [[c.place.tree.path, c.place.name, digest(c.before), digest(c.after)] for c in changes]
    return Preview(kind=Kind.EDIT, text=_text(head, lines), plan=plan, grant=f"tool:{spec.name}", always=not later)


def command_preview(spec: ToolSpec, run: Run, state: SandboxState) -> Preview:
    """A command with its folder. Raises: Refused for one that nobody would read to its end."""
    if len(run.shown) > MOST_COMMAND:
        raise Refused(f"a command of {len(run.shown):,} characters is too long for a person to judge")
    folder = run.cwd.tree.path if run.cwd.name == "." else f"{run.cwd.tree.path}/{run.cwd.name}"
    first, *rest = run.shown.split("\n")
    head = [f"in {laid_open(folder)}"]
    if not state.confined:
        why = f" ({laid_open(state.reason)})" if state.reason else ""
        head.append(f"CAREFUL: nothing confines this command: there is no sandbox here{why}")
    network = "with network" if run.network else "no network"
    tail = [f"({network}, at most {run.seconds:g} s)"]
    plan = [list(run.argv), run.cwd.tree.path, run.cwd.name, run.network, run.seconds]
    return Preview(
        kind=Kind.COMMAND,
        text=_text(head, [f"$ {first}", *(f"  {line}" for line in rest), *tail]),
        plan=plan,
        grant=f"command:{digest(repr([spec.name, *plan[:-1]]).encode())}",
        always=state.confined,
    )


def call_preview(spec: ToolSpec, args: Mapping[str, Any], about: str) -> Preview:
    """A call that is asked for before its body runs; `about` is the host, or what the tool says it is about."""
    kind = {Effect.NET: Kind.FETCH, Effect.SPAWN: Kind.SPAWN}.get(spec.effect, Kind.CALL)
    head = [laid_open(about)] if about else []
    lines = [f"{name}: {value if isinstance(value, str) else shown(value)}" for name, value in args.items()]
    grant = f"host:{about.lower()}" if kind is Kind.FETCH and about else f"tool:{spec.name}"
    parts = [part for line in lines for part in line.split("\n")]
    return Preview(kind=kind, text=_text(head, parts), plan=about, grant=grant, always=True)


def outside_preview(path: str, real: str, *, writes: bool) -> Preview:
    """A path that leads out of the roots to `real`; a yes to reading it is none to writing."""
    use = "to be read and written" if writes else "to be read"
    leads = [f"(a link: it leads to {real})"] if real != path else []
    return Preview(
        kind=Kind.OUTSIDE,
        text=_text([], [path, *leads, f"({use}: a file alone, a folder with all that is in it)"]),
        plan=[path, real, writes],
        grant=f"{'write' if writes else 'path'}:{real}",
        always=False,
    )


def digest(data: bytes | None) -> str:
    """Stands for the content, and "none" for none."""
    import hashlib

    return "none" if data is None else hashlib.sha256(data).hexdigest()


def _name(change: Change, *, whole: bool) -> str:
    """The path below its root; with `whole`, from the very top: in two roots a name may mean two files."""
    place = change.place
    return shown_path(f"{place.tree.path.rstrip('/')}/{place.name}" if whole else place.name)


def _text(head: Iterable[str], lines: Sequence[str]) -> str:
    """Head and lines fit to be printed, with a warning above what would have deceived; too much is cut, and says so."""
    warnings = deceptions("\n".join(line.removesuffix("\r") for line in lines))
    careful = [f"CAREFUL: there are {' and '.join(warnings)} in it; they are shown as escapes"] if warnings else []
    body = [_cut(line) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        body.append(f"CUT: {len(lines) - MOST_LINES:,} more lines are not shown; a yes covers them too")
    return "\n".join([*head, *careful, *body])


def _cut(line: str) -> str:
    if len(line) <= MOST_WIDTH:
        return laid_open(line)
    return f"{laid_open(line[:MOST_WIDTH])} CUT: {len(line) - MOST_WIDTH:,} more characters; a yes covers them too"
