"""The tool `read_context`: a folder's relevant files as one text."""

from marid.app import context
from marid.app.app import App
from marid.core.caller import Caller
from marid.core.context import ContextRequest, Fence, Shown, View, Wanted
from marid.core.errors import Exhausted
from marid.core.events import Event, Happening, Note, Packed, Problem, Walked
from marid.faces.mcp.arguments import Asked, asked, schema
from marid.faces.mcp.roots import Roots, target_in
from marid.faces.mcp.tool import Alive, Arguments, Tool, log

_CALLER = Caller(face="mcp")
_MEGABYTE = 1 << 20
_DESCRIPTION = """\
Read the source files of a folder as one text, each under a header with its path, size and time of change.
What .gitignore and the project's .contextfiles leave out is left out, and so are build products, logs, lock files, \
binary files and links; secrets are masked. Call it with list_only first to see what there is, then choose with \
targets or rules, or give a budget to have as much as fits."""
_IN_OUR_WORDS = "\nOver MCP a --rule is an item of 'rules', --list-only is 'list_only' and --budget is 'budget'."


def read_context(app: App, roots: Roots) -> Tool:
    """The tool over `app`, confined to `roots`."""

    def call(arguments: Arguments, alive: Alive) -> str:
        request = _request(asked(arguments), app, roots)
        try:
            return _text(app, request, alive)
        except Exhausted as error:
            raise Exhausted(f"{error}{_IN_OUR_WORDS}") from error

    return Tool("read_context", "Read project context", _DESCRIPTION, schema(), call)


def _request(wish: Asked, app: App, roots: Roots) -> ContextRequest:
    folder = roots.folder(wish.path)
    targets = tuple(target_in(folder, target) for target in wish.targets)
    settings = app.settings
    return ContextRequest(
        cwd=folder,
        wanted=Wanted(targets=targets or (folder,), base=folder, rules=wish.rules),
        shown=Shown(
            form=wish.form,
            views=(View.LIST,) if wish.list_only else (View.CONTENT,),
            mask=settings.mask,
            budget=wish.budget,
        ),
        max_bytes=round(settings.max_size_mb * _MEGABYTE),
        encoding=settings.encoding,
        fence=Fence(roots=roots.folders, home=settings.home),
    )


def _text(app: App, request: ContextRequest, alive: Alive) -> str:
    def listener(event: Event) -> None:
        alive()
        tell(event.what)

    run = context.assemble(app, request, _CALLER, listener)
    pieces: list[bytes] = []
    for batch in run:
        alive()
        pieces += batch
    masked = run.report().masked
    if masked:
        log(f"masked {masked:,} {'secret' if masked == 1 else 'secrets'}")
    # Names that are no UTF-8 reach JSON escaped; contents are UTF-8 already.
    return b"".join(pieces).decode("utf-8", "backslashreplace")


def tell(what: Happening) -> None:
    """Log what the person who runs the server should know; progress is nobody's business here."""
    match what:
        case Problem(path=path, reason=reason):
            log(f"skipped '{path}': {reason}")
        case Note(text=text):
            log(text)
        case Walked() | Packed():
            pass
