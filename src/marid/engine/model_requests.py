"""What is asked of a model: the history, the tools and the system prompt, if they fit into its window."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from marid.core.errors import Exhausted
from marid.core.model_io import ModelRequest, Parameters, ToolOffer, request_tokens
from marid.core.round_events import WindowWarning
from marid.engine.messages import provider_messages
from marid.engine.turns import Turn

_WINDOW_FULL_HINT = "To clear the window, to begin a new conversation, or a model that takes more would help"
_TOOLS_HINT = "The tools alone are {:,}: the settings `tools` and `no_tool_calls` leave them out. "


@dataclass(frozen=True, kw_only=True)
class WindowLimits:
    """How much a model takes in, tools and system prompt included; `limit` 0 is not known.

    `chosen` is a person's own limit for what is said, 0 for none. `percent` is where a warning begins.
    """

    model: str
    limit: int = 0
    user_limit: int = 0
    warn_percent: float = 80.0


WINDOW_LOOKUP_TOKENS = 1_000
"""Tokens of what is said that may fill a window which nobody knows. What is shorter is not worth a question to the
provider before every first answer: tools that do not fit with it are then told by the service itself.
"""


class RequestBuilder:
    """Builds the requests of one round, and warns once when the window is nearly full."""

    def __init__(self, window: WindowLimits, tools: tuple[ToolOffer, ...], parameters: Parameters) -> None:
        self._window = window
        self._tools = tools
        self._parameters = parameters
        self._warned = False
        self._window_known = bool(window.limit or window.user_limit)

    def needs_window(self, turns: Sequence[Turn]) -> bool:
        """Whether it should be found out how much the model takes in: nobody knows, and much was said."""
        if self._window_known:
            return False
        return (
            request_tokens(ModelRequest(model=self._window.model, messages=provider_messages(turns)))
            >= WINDOW_LOOKUP_TOKENS
        )

    def set_window(self, limit: int) -> None:
        """How much the model takes in, or 0: nobody is asked twice."""
        self._window = replace(self._window, limit=limit)
        self._window_known = True

    def set_tools(self, tools: tuple[ToolOffer, ...]) -> None:
        """Offer these from now on."""
        self._tools = tools

    def build_request(self, system: str, turns: Sequence[Turn]) -> tuple[ModelRequest, WindowWarning | None]:
        """The next request, with the warning if this is the first that nearly fills the window.

        Raises: Exhausted when it does not fit, in words that say what would help.
        """
        request = ModelRequest(
            model=self._window.model,
            messages=provider_messages(turns),
            system=system,
            tools=self._tools,
            parameters=self._parameters,
        )
        prompt = replace(request, tools=(), system="")
        warning = self._check_fits(prompt, self._window.user_limit, "context_window_limit is")
        return request, self._check_fits(request, self._window.limit, f"'{request.model}' takes") or warning

    def _check_fits(self, request: ModelRequest, limit: int, bound: str) -> WindowWarning | None:
        if limit <= 0:
            return None
        tokens = request_tokens(request)
        if tokens >= limit:
            tools = request_tokens(replace(request, messages=(), system=""))
            raise Exhausted(
                f"the window is full: the request is about {tokens:,} tokens and {bound} {limit:,}. "
                + (_TOOLS_HINT.format(tools) if tools * 2 > limit else "")
                + _WINDOW_FULL_HINT
            )
        if self._warned or tokens * 100 < limit * self._window.warn_percent:
            return None
        self._warned = True
        return WindowWarning(limit - tokens, limit)
