"""Which tools a caller is offered. Apart from the dispatcher, so that listing tools imports no event loop."""

from collections.abc import Iterable

from marid.core.policy.policy import Verdict
from marid.toolkit.call_scope import CallScope
from marid.toolkit.dependencies import dependencies_of
from marid.toolkit.spec import ToolSpec


def available_tools(specs: Iterable[ToolSpec], scope: CallScope) -> list[ToolSpec]:
    """The tools that policy does not deny to this caller, and whose ports it has."""
    return [spec for spec in specs if not is_denied(spec, scope) and missing_port(spec, scope) is None]


def is_denied(spec: ToolSpec, scope: CallScope) -> bool:
    """Whether policy denies the tool to this caller."""
    return scope.policy.verdict(spec.effect, *spec.names) is Verdict.DENY


def missing_port(spec: ToolSpec, scope: CallScope) -> type | None:
    """A port that the tool needs and this caller does not have."""
    ports = dependencies_of(spec).required.values()
    return next((port for port in ports if port not in scope.services), None)
