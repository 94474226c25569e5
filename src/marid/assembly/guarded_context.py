"""Assembling context through the path guard."""

from marid.assembly.context_ports import ContextPorts
from marid.assembly.context_reader import ContextText
from marid.assembly.pipeline import ContextRun
from marid.core.context import ContextRequest, ContextView, FileSelection, RenderOptions, byte_limit
from marid.core.errors import BadInput, Exhausted, Refused
from marid.core.events import ContextEvent, FileProblem, Notice
from marid.core.settings.values import ContextSettings
from marid.text.display import quote_path
from marid.workspace.guard.api import GuardedPath
from marid.workspace.guard.path_scope import GuardedAccess, follow_links


class GuardedContextReader:
    """The port ContextReader."""

    def __init__(self, ports: ContextPorts, settings: ContextSettings) -> None:
        # The process has threads by now, so it must not fork.
        self._ports = ports._replace(job_pool=None)
        self._settings = settings
        self._max_bytes = byte_limit(settings.max_size_mb)

    def read(
        self, folder: GuardedPath, selection: FileSelection, render: RenderOptions, max_bytes: int | None
    ) -> ContextText:
        """As in the port."""
        top = follow_links(folder)
        access = GuardedAccess(top)
        access.open(access.top).close()
        targets = tuple(f"{access.top}/{_name_below(top, target)}" for target in selection.targets)
        # Content that is cut to a budget may come from more files than the caller could take whole.
        is_whole = render.budget is None and ContextView.CONTENT in render.views
        request = ContextRequest(
            cwd=access.top,
            selection=selection._replace(targets=targets or (access.top,), base=access.top),
            render=render._replace(mask=self._settings.mask),
            max_bytes=min(self._max_bytes, max_bytes) if max_bytes and is_whole else self._max_bytes,
            encoding=self._settings.encoding,
        )
        notices: list[str] = []

        def emit(what: ContextEvent) -> None:
            match what:
                case FileProblem(path=path, reason=reason):
                    notices.append(f"skipped {path}: {reason}")
                case Notice(text=text):
                    notices.append(text)
                case _:
                    pass

        run = ContextRun(request, self._ports._replace(access=access), emit)
        data = b"".join(piece for batch in run for piece in batch)
        if max_bytes and len(data) > max_bytes:
            raise Exhausted(f"the result has {len(data):,} bytes, and {max_bytes:,} are the limit here")
        report = run.report()
        if report.masked:
            notices.append(f"masked {report.masked:,} {'secret' if report.masked == 1 else 'secrets'}")
        # Names that are not UTF-8 are escaped; contents are UTF-8 already.
        return ContextText(data.decode("utf-8", "backslashreplace"), report.files, tuple(notices))


def _name_below(top: GuardedPath, target: str) -> str:
    """The name of a target relative to `top`."""
    shown = f"the target '{quote_path(target)}'"
    place = follow_links(top, target)
    prefix = "" if top.name == "." else f"{top.name}/"
    if place.name != top.name and not place.name.startswith(prefix):
        raise Refused(f"{shown} leads out of 'path': targets are files and folders below it")
    if place.kind() == "other":
        raise BadInput(f"{shown} is neither a file nor a folder")
    return "." if place.name == top.name else place.name[len(prefix) :]
