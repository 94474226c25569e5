"""The tools from Python: `async with marid.open_app(root=...) as app: await app.call("get_tree", path=".")`."""

import os
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from marid.app.tool_session import ToolAccess, ToolSession, open_tools
from marid.bootstrap.wiring import open_request
from marid.core.policy.policy import parse_effects
from marid.toolkit.outcome import Outcome
from marid.toolkit.questions import Asker
from marid.toolkit.spec import ToolSpec

__all__ = ("Workbench", "open_app")


class Workbench:
    """Tools over some roots. Calls may run concurrently."""

    def __init__(self, session: ToolSession) -> None:
        self._session = session

    @property
    def tools(self) -> Mapping[str, ToolSpec]:
        """The tools by name; a tool with aliases appears under each."""
        return dict(self._session.tools_by_name())

    async def call(self, tool: str, /, **args: Any) -> Outcome:
        """Call a tool by its name. The outcome has `ok` and `text`; a failure also `code` and `message`."""
        return await self._session.call(tool, args)

    async def call_all(self, calls: Sequence[tuple[str, Mapping[str, object]]]) -> list[Outcome]:
        """Call several tools concurrently, each as (name, arguments); outcomes are in the order of the calls."""
        return await self._session.call_all(calls)


def open_app(
    root: str | os.PathLike[str] = ".",
    *,
    allow: str | Iterable[str] = (),
    home: str | os.PathLike[str] | None = None,
    asker: Asker | None = None,
    **access: Any,
) -> AbstractAsyncContextManager[Workbench]:
    """Open the tools over the folder `root`, to which relative paths refer: `async with open_app(...) as app`.

    `allow` names effects that need no approval ("write,exec"); without it and without an `asker`, tools that write,
    run commands or use the network are refused. `home` is where marid keeps its files. Other options, by name: `roots`
    and `files` (more paths), `families`, `trust`, `read_only`, `wait`.

    Raises: a MaridError (see marid.core.errors) when the root or the settings are invalid.
    """
    top = os.path.abspath(root)
    scope = open_request(cwd=top, home=None if home is None else os.fspath(home))
    tool_access = ToolAccess(
        roots=(top, *map(os.fspath, access.pop("roots", ()))),
        files=tuple(map(os.fspath, access.pop("files", ()))),
        families=tuple(access.pop("families", ())),
        allow=parse_effects(allow),
        **access,
    )
    return _open_workbench(open_tools(scope, tool_access, asker))


@asynccontextmanager
async def _open_workbench(session: ToolSession) -> AsyncGenerator[Workbench]:
    try:
        yield Workbench(session)
    finally:
        session.close()
