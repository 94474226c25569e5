"""Tools called over a folder the way the dispatcher calls them, without asking anybody."""

from collections.abc import Mapping
from pathlib import Path

from fakes.workers import InlineWorkers
from marid.core.errors import MaridError
from marid.ports.workers import Workers
from marid.toolkit.form import form
from marid.toolkit.outcome import Done, Edit, Failed, Outcome, Result, Run
from marid.toolkit.spec import ToolSpec
from marid.workspace.commit import commit
from marid.workspace.guard import Territory


class Hands:
    """Parses the arguments, calls the body, writes what an edit plans. `services` are the ports of a tool, by type."""

    def __init__(self, root: Path, services: Mapping[type, object] | None = None) -> None:
        self.root = root
        self.territory = Territory([str(root)])
        self._services: dict[type, object] = {Workers: InlineWorkers(), **(services or {})}

    def plan(self, spec: ToolSpec, **args: object) -> Result:
        """What the body returns. Raises what it raises."""
        made = form(spec)
        given = {
            **made.parse(args, self.territory),
            **{name: self._services[kind] for name, kind in made.needs.items()},
        }
        result = spec.body(**given)
        assert isinstance(result, Done | Edit | Run)
        return result

    def call(self, spec: ToolSpec, **args: object) -> Outcome:
        """What the call comes to; edits are written."""
        try:
            result = self.plan(spec, **args)
            if isinstance(result, Edit):
                commit(result.changes)
                return Done(text=result.text, values=result.values)
        except MaridError as error:
            return Failed(code=error.code, message=str(error))
        assert isinstance(result, Done), "a command is not run here"
        return result

    def text(self, spec: ToolSpec, **args: object) -> str:
        """The text of a call that must succeed."""
        outcome = self.call(spec, **args)
        assert isinstance(outcome, Done), outcome
        return outcome.text

    def failure(self, spec: ToolSpec, **args: object) -> Failed:
        """Why a call that must fail did."""
        outcome = self.call(spec, **args)
        assert isinstance(outcome, Failed), outcome
        return outcome
