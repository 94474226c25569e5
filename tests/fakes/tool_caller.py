"""Tools called over a folder as the dispatcher calls them, without approvals."""

from collections.abc import Mapping
from pathlib import Path

from fakes.ports import InlineWorkers
from marid.core.errors import MaridError
from marid.ports.workers import Workers
from marid.toolkit.inventory import dependencies_of
from marid.toolkit.outcome import BodyResult, CommandPlan, EditPlan, Outcome, ToolFailure, ToolOutput
from marid.toolkit.params import tool_params
from marid.toolkit.spec import ToolSpec
from marid.workspace.guard.api import PathScope
from marid.workspace.write.commit import commit


class ToolCaller:
    """Parses the arguments, calls the body, writes what an edit plans. `services` are the ports of a tool, by type."""

    def __init__(self, root: Path, services: Mapping[type, object] | None = None) -> None:
        self.root = root
        self.path_scope = PathScope([str(root)])
        self._services: dict[type, object] = {Workers: InlineWorkers(), **(services or {})}

    def plan(self, spec: ToolSpec, **args: object) -> BodyResult:
        """What the body returns. Raises what it raises."""
        ports = {name: self._services[kind] for name, kind in dependencies_of(spec).required.items()}
        result = spec.body(**tool_params(spec).parse(args, self.path_scope), **ports)
        assert isinstance(result, ToolOutput | EditPlan | CommandPlan)
        return result

    def call(self, spec: ToolSpec, **args: object) -> Outcome:
        """The outcome; edits are written."""
        try:
            result = self.plan(spec, **args)
            if isinstance(result, EditPlan):
                commit(result.changes)
                return ToolOutput(text=result.text, values=result.values)
        except MaridError as error:
            return ToolFailure(code=error.code, message=str(error))
        assert isinstance(result, ToolOutput), "a command is not run here"
        return result

    def output(self, spec: ToolSpec, **args: object) -> ToolOutput:
        """The output of a call that must succeed."""
        outcome = self.call(spec, **args)
        assert isinstance(outcome, ToolOutput), outcome
        return outcome

    def text(self, spec: ToolSpec, **args: object) -> str:
        """The text of a call that must succeed."""
        return self.output(spec, **args).text

    def failure(self, spec: ToolSpec, **args: object) -> ToolFailure:
        """Why a call that must fail did."""
        outcome = self.call(spec, **args)
        assert isinstance(outcome, ToolFailure), outcome
        return outcome
