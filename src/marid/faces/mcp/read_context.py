"""The tool `read_context`: a folder's relevant files as one text."""

from marid.app import project_context
from marid.app.app import App
from marid.core.caller import Caller
from marid.core.context import ContextFence, ContextRequest, ContextView, FileSelection, RenderOptions
from marid.core.errors import Exhausted
from marid.core.events import ContextEvent, Event, FileProblem, Notice, PackProgress, WalkProgress
from marid.faces.mcp.context_arguments import ContextArguments, arguments_schema, parse_arguments
from marid.faces.mcp.face_tool import Arguments, CheckAlive, FaceTool, log_line
from marid.faces.mcp.roots import AllowedRoots, resolve_target

_CALLER = Caller(face="mcp")
_MEGABYTE = 1 << 20
_DESCRIPTION = """\
Read the source files of a folder as one text, each under a header with its path, size and time of change.
What .gitignore and the project's .contextfiles leave out is left out, and so are build products, logs, lock files, \
binary files and links; secrets are masked. Call it with list_only first to see what there is, then choose with \
targets or rules, or give a budget to have as much as fits."""
_MCP_HINT = "\nOver MCP a --rule is an item of 'rules', --list-only is 'list_only' and --budget is 'budget'."


def read_context_tool(app: App, roots: AllowedRoots) -> FaceTool:
    """The tool over `app`, confined to `roots`."""

    def call(arguments: Arguments, alive: CheckAlive) -> str:
        request = _request(parse_arguments(arguments), app, roots)
        try:
            return _text(app, request, alive)
        except Exhausted as error:
            raise Exhausted(f"{error}{_MCP_HINT}") from error

    return FaceTool("read_context", "Read project context", _DESCRIPTION, arguments_schema(), call)


def _request(wish: ContextArguments, app: App, roots: AllowedRoots) -> ContextRequest:
    folder = roots.resolve_folder(wish.path)
    targets = tuple(resolve_target(folder, target) for target in wish.targets)
    settings = app.settings
    return ContextRequest(
        cwd=folder,
        selection=FileSelection(targets=targets or (folder,), base=folder, rules=wish.rules),
        render=RenderOptions(
            form=wish.form,
            views=(ContextView.LIST,) if wish.list_only else (ContextView.CONTENT,),
            mask=settings.context.mask,
            budget=wish.budget,
        ),
        max_bytes=round(settings.context.max_size_mb * _MEGABYTE),
        encoding=settings.context.encoding,
        fence=ContextFence(roots=roots.folders, home=settings.home),
    )


def _text(app: App, request: ContextRequest, alive: CheckAlive) -> str:
    def listener(event: Event[ContextEvent]) -> None:
        alive()
        log_event(event.what)

    run = project_context.assemble(app, request, _CALLER, listener)
    pieces: list[bytes] = []
    for batch in run:
        alive()
        pieces += batch
    masked = run.report().masked
    if masked:
        log_line(f"masked {masked:,} {'secret' if masked == 1 else 'secrets'}")
    # Names that are no UTF-8 reach JSON escaped; contents are UTF-8 already.
    return b"".join(pieces).decode("utf-8", "backslashreplace")


def log_event(what: ContextEvent) -> None:
    """Log what the person who runs the server should know; progress is nobody's business here."""
    match what:
        case FileProblem(path=path, reason=reason):
            log_line(f"skipped '{path}': {reason}")
        case Notice(text=text):
            log_line(text)
        case WalkProgress() | PackProgress():
            pass
