"""Which tools a caller gets to see. Apart from the dispatcher, so that listing them starts no loop."""

from collections.abc import Iterable

from marid.core.policy.policy import Verdict
from marid.toolkit.call_scope import CallScope
from marid.toolkit.dependencies import dependencies_of
from marid.toolkit.spec import ToolSpec


def available_tools(specs: Iterable[ToolSpec], scope: CallScope) -> list[ToolSpec]:
    """The tools that this caller may call or ask for, and whose ports it has."""
    return [
        spec
        for spec in specs
        if scope.policy.verdict(spec.effect, *spec.names) is not Verdict.DENY
        and all(port in scope.services for port in dependencies_of(spec).required.values())
    ]
