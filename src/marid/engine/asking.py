"""What is asked of a model: the history, the tools and the system prompt, if they fit into its window."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from marid.core.chat import ModelRequest, Parameters, ToolOffer, request_tokens
from marid.core.errors import Exhausted
from marid.core.rounds import RoundHappening, WindowWarning
from marid.engine.messages import messages
from marid.engine.turns import Turn

_WORDS = "To clear the window, to begin a new conversation, or a model that takes more would help"
_TOOLS = "The tools alone are {:,}: the settings `tools` and `no_tool_calls` leave them out. "


@dataclass(frozen=True, kw_only=True)
class Window:
    """How much a model takes in, tools and system prompt included; `limit` 0 is not known.

    `chosen` is a person's own limit for what is said, 0 for none. `percent` is where a warning begins.
    """

    model: str
    limit: int = 0
    chosen: int = 0
    percent: float = 80.0


LONG = 1_000
"""Tokens of what is said that may fill a window which nobody knows. What is shorter is not worth a question to the
provider before every first answer: tools that do not fit with it are then told by the service itself.
"""


class Questioner:
    """Makes the requests of one round, and warns once when the window is nearly full."""

    def __init__(
        self,
        window: Window,
        tools: tuple[ToolOffer, ...],
        parameters: Parameters,
        emit: Callable[[RoundHappening], None],
    ) -> None:
        self._window = window
        self._tools = tools
        self._parameters = parameters
        self._emit = emit
        self._warned = False
        self._knows = bool(window.limit or window.chosen)

    def wonders(self, turns: Sequence[Turn]) -> bool:
        """Whether it should be found out how much the model takes in: nobody knows, and much was said."""
        if self._knows:
            return False
        return request_tokens(ModelRequest(model=self._window.model, messages=messages(turns))) >= LONG

    def learn(self, limit: int) -> None:
        """How much the model takes in, or 0: nobody is asked twice."""
        self._window = replace(self._window, limit=limit)
        self._knows = True

    def request(self, system: str, turns: Sequence[Turn]) -> ModelRequest:
        """Raises: Exhausted when it does not fit, in words that say what would help."""
        request = ModelRequest(
            model=self._window.model,
            messages=messages(turns),
            system=system,
            tools=self._tools,
            parameters=self._parameters,
        )
        if self._window.chosen > 0:
            self._check(replace(request, tools=(), system=""), self._window.chosen, "context_window_limit is")
        if self._window.limit > 0:
            self._check(request, self._window.limit, f"'{request.model}' takes")
        return request

    def _check(self, request: ModelRequest, limit: int, bound: str) -> None:
        tokens = request_tokens(request)
        if tokens >= limit:
            tools = request_tokens(replace(request, messages=(), system=""))
            raise Exhausted(
                f"the window is full: the request is about {tokens:,} tokens and {bound} {limit:,}. "
                + (_TOOLS.format(tools) if tools * 2 > limit else "")
                + _WORDS
            )
        if tokens * 100 >= limit * self._window.percent and not self._warned:
            self._warned = True
            self._emit(WindowWarning(limit - tokens, limit))
