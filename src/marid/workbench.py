"""The tools from Python: `async with marid.open_app(root=...) as app: await app.call("get_tree", path=".")`."""

import os
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from marid.app.tool_access import ToolAccess
from marid.app.tool_session import ToolSession, open_tools
from marid.bootstrap.wiring import build
from marid.core.caller import Caller
from marid.core.policy.policy_table import parse_effects
from marid.toolkit.outcome import Outcome
from marid.toolkit.questions import Asker
from marid.toolkit.spec import ToolSpec

__all__ = ("Workbench", "open_app")


class Workbench:
    """Tools over some roots. Calls may run at once; each is as fast or slow as its own tool."""

    def __init__(self, hands: ToolSession) -> None:
        self._hands = hands

    @property
    def tools(self) -> Mapping[str, ToolSpec]:
        """What there is to call, by every name it has."""
        return dict(self._hands.tools_by_name())

    async def call(self, tool: str, /, **args: Any) -> Outcome:
        """Call a tool by its name. The outcome has `ok` and `text`; a failure also `code` and `message`."""
        return await self._hands.call(tool, args)

    async def call_all(self, calls: Sequence[tuple[str, Mapping[str, object]]]) -> list[Outcome]:
        """Call several at once: (name, arguments) each. Outcomes come in the order of the calls."""
        return await self._hands.call_all(calls)


def open_app(
    root: str | os.PathLike[str] = ".",
    *,
    allow: str | Iterable[str] = (),
    home: str | os.PathLike[str] | None = None,
    asker: Asker | None = None,
    **reach: Any,
) -> AbstractAsyncContextManager[Workbench]:
    """Open the tools over `root`, a folder, which also resolves relative paths: `async with open_app(...) as app`.

    `allow` names effects that need no question ("write,exec"); without that and without an `asker`, tools that write,
    run or use the network are refused. `home` is where marid keeps its own files. More, by name: `roots` and `files`
    (further paths), `families`, `trust`, `read_only`, `wait`.

    Raises: a MaridError, see marid.core.errors, when the root or the settings are wrong.
    """
    top = os.path.abspath(root)
    app = build(cwd=top, home=None if home is None else os.fspath(home))
    wanted = ToolAccess(
        roots=(top, *map(os.fspath, reach.pop("roots", ()))),
        files=tuple(map(os.fspath, reach.pop("files", ()))),
        families=tuple(reach.pop("families", ())),
        allow=parse_effects(allow),
        **reach,
    )
    return _open_workbench(open_tools(app, wanted, Caller(face="python"), asker))


@asynccontextmanager
async def _open_workbench(hands: ToolSession) -> AsyncGenerator[Workbench]:
    try:
        yield Workbench(hands)
    finally:
        hands.close()
