"""Every hook point of a round, a call, a message and a conversation, and how several hooks at one point combine.

A hook is a plain function. Rounds and calls run it in a worker thread. It may return None for "no change". Hooks run in
the order in which they are listed, and each sees what those before it changed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

from marid.core.caller import Caller
from marid.core.model_io import ModelRequest, ToolOffer
from marid.core.policy.policy import Verdict

P = TypeVar("P")
R = TypeVar("R")
Fuel: TypeAlias = tuple[int, int] | None
"""Requests that are left and the total; None without a limit."""
Hook: TypeAlias = Callable[[P], R | None]
Observer: TypeAlias = Callable[[P], object]


class RunPayload(NamedTuple):
    """A run of a round begins or is over."""

    conversation: str
    round: str


class PromptPayload(NamedTuple):
    """A prompt, of a person or of the model that continues by itself, before it is stored."""

    conversation: str
    prompt: str


class AnswerPayload(NamedTuple):
    """An answer that is stored, and the prompt that it answers."""

    conversation: str
    prompt: str
    response: str


class SystemPromptPayload(NamedTuple):
    """A system prompt is put together."""

    conversation: str
    summary: str
    todos: str
    goals: str


class OfferPayload(NamedTuple):
    """The tools that the model is about to be offered."""

    conversation: str
    tools: tuple[ToolOffer, ...]
    fuel: Fuel


class RequestPayload(NamedTuple):
    """The request that is about to be sent."""

    conversation: str
    request: ModelRequest
    fuel: Fuel


class LoopPayload(NamedTuple):
    """The loop starts on a prompt, or has run the `calls` of a reply: names and arguments."""

    conversation: str
    fallback: str
    fuel: Fuel
    prompt: str = ""
    calls: tuple[tuple[str, str], ...] = ()


class CallPayload(NamedTuple):
    """A call, with the arguments as the caller gave them."""

    caller: Caller
    call: str
    tool: str
    arguments: Mapping[str, object]


class OutputPayload(NamedTuple):
    """The output of a call. `final` is what the caller gets: masked, clipped, or the text of a failure."""

    caller: Caller
    call: str
    tool: str
    arguments: Mapping[str, object]
    output: str
    final: str = ""


class AccessPayload(NamedTuple):
    """What a call is about to read, write, run or fetch: a path, a command or a URL. `content` is for writes."""

    caller: Caller
    call: str
    tool: str
    subject: str
    content: bytes = b""


class DeliveryPayload(NamedTuple):
    """A message from one conversation to another; `via` says who delivered it."""

    sender: str
    to: str
    content: str
    via: str = ""


class SwitchPayload(NamedTuple):
    """Another conversation is the current one now."""

    previous: str
    current: str


class ClearPayload(NamedTuple):
    """The window of a conversation is emptied."""

    conversation: str


class ToolFilter(NamedTuple):
    """Tools by name: with `include` only these, never those of `exclude`."""

    include: frozenset[str] | None = None
    exclude: frozenset[str] = frozenset()


class LoopChange(NamedTuple):
    """`fallback` is `call_user` or `call_agent`; `fuel` sets the requests that are left, `fuel_delta` adds to them."""

    fallback: str | None = None
    fuel: int | None = None
    fuel_delta: int = 0


class CallChange(NamedTuple):
    """Other arguments, which are parsed like the caller's, and a verdict, which can only make the policy stricter."""

    arguments: Mapping[str, object] | None = None
    verdict: Verdict = Verdict.ALLOW
    reason: str = ""


class OutputChange(NamedTuple):
    """Another output; with `stop` the hooks after this one do not run."""

    output: str
    stop: bool = False


class Denial(NamedTuple):
    """An access is refused."""

    reason: str


class Delivery(NamedTuple):
    """A message was delivered; the inbox does not get it."""

    via: str


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """Every hook point. A new field is new public API."""

    on_start: Sequence[Observer[RunPayload]] = ()
    on_end: Sequence[Observer[RunPayload]] = ()
    pre_message: Sequence[Hook[PromptPayload, str]] = ()
    post_message: Sequence[Observer[AnswerPayload]] = ()
    pre_system_prompt: Sequence[Hook[SystemPromptPayload, str]] = ()
    post_system_prompt: Sequence[Hook[SystemPromptPayload, str]] = ()
    pre_api_tools: Sequence[Hook[OfferPayload, ToolFilter]] = ()
    pre_api_request: Sequence[Hook[RequestPayload, ModelRequest]] = ()
    pre_agentic_loop: Sequence[Hook[LoopPayload, LoopChange]] = ()
    post_tool_batch: Sequence[Hook[LoopPayload, LoopChange]] = ()
    pre_tool: Sequence[Hook[CallPayload, CallChange]] = ()
    post_tool: Sequence[Observer[OutputPayload]] = ()
    pre_tool_output: Sequence[Hook[OutputPayload, OutputChange]] = ()
    post_tool_output: Sequence[Observer[OutputPayload]] = ()
    pre_file_read: Sequence[Hook[AccessPayload, Denial]] = ()
    pre_file_write: Sequence[Hook[AccessPayload, Denial]] = ()
    pre_shell_exec: Sequence[Hook[AccessPayload, Denial]] = ()
    pre_fetch_url: Sequence[Hook[AccessPayload, Denial]] = ()
    pre_send_message: Sequence[Hook[DeliveryPayload, Delivery]] = ()
    post_send_message: Sequence[Observer[DeliveryPayload]] = ()
    on_context_switch: Sequence[Observer[SwitchPayload]] = ()
    pre_clear: Sequence[Observer[ClearPayload]] = ()
    post_clear: Sequence[Observer[ClearPayload]] = ()

    def run_switch(self, previous: str, current: str) -> None:
        """Another conversation is the current one."""
        HookRunner().observe(self.on_context_switch, SwitchPayload(previous, current))

    def run_pre_clear(self, conversation: str) -> None:
        """A window is about to be emptied."""
        HookRunner().observe(self.pre_clear, ClearPayload(conversation))

    def run_post_clear(self, conversation: str) -> None:
        """A window is empty."""
        HookRunner().observe(self.post_clear, ClearPayload(conversation))


NO_HOOKS = Hooks()


class HookRunner:
    """Runs hooks. One that fails changes nothing and leaves a note, except that a failing judge denies."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def results(self, hooks: Sequence[Hook[P, R]], payload: P, change: Callable[[P, R], P] | None = None) -> list[R]:
        """What the hooks return, without None; `change` makes the payload that the next hook sees."""
        found: list[R] = []
        for hook in hooks:
            result = self._call(hook, payload)
            if result is not None:
                found.append(result)
                payload = change(payload, result) if change is not None else payload
        return found

    def observe(self, hooks: Sequence[Observer[P]], payload: P) -> None:
        """Show the payload to every hook."""
        for hook in hooks:
            self._call(hook, payload)

    def denial(self, hooks: Sequence[Hook[P, Denial]], payload: P) -> Denial | None:
        """The first denial; a hook that fails denies."""
        for hook in hooks:
            count = len(self.notes)
            denial = self._call(hook, payload)
            if denial is not None or len(self.notes) > count:
                return denial or Denial(self.notes[-1])
        return None

    def call_change(self, hooks: Sequence[Hook[CallPayload, CallChange]], payload: CallPayload) -> CallChange:
        """All changes in one: the last arguments and the strictest verdict. A denial, or a hook that fails, ends it."""
        arguments: Mapping[str, object] | None = None
        verdict, reason = Verdict.ALLOW, ""
        for hook in hooks:
            count = len(self.notes)
            change = self._call(hook, payload)
            if len(self.notes) > count:
                return CallChange(verdict=Verdict.DENY, reason=self.notes[-1])
            if change is None:
                continue
            if change.verdict is Verdict.DENY:
                return change
            if change.verdict > verdict:
                verdict, reason = change.verdict, change.reason
            if change.arguments is not None:
                arguments = change.arguments
                payload = payload._replace(arguments=arguments)
        return CallChange(arguments, verdict, reason)

    def _call(self, hook: Callable[[P], R], payload: P) -> R | None:
        try:
            return hook(payload)
        except Exception as error:  # noqa: BLE001 - a hook is foreign code: the rules for a failure are above
            name = getattr(hook, "__name__", type(hook).__name__)
            self.notes.append(f"the hook '{name}' failed: {type(error).__name__}: {error}")
            return None
