"""The hooks of a round, run in threads. With none registered at a point nothing is awaited there."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from marid.core.events import Notice
from marid.core.hooks import (
    NO_HOOKS,
    AnswerPayload,
    Fuel,
    Hook,
    HookRunner,
    Hooks,
    LoopChange,
    LoopPayload,
    Observer,
    OfferPayload,
    PromptPayload,
    RequestPayload,
    RunPayload,
    SystemPromptPayload,
)
from marid.core.model_io import ModelRequest, ToolOffer
from marid.engine.async_conversation import AsyncConversation
from marid.engine.round_entries import RoundStamp

P = TypeVar("P")
T = TypeVar("T")


class RoundHooks:
    """The hook points of one round."""

    def __init__(self, conversation: AsyncConversation, stamp: RoundStamp, hooks: Hooks | None) -> None:
        self._conversation = conversation
        self._stamp = stamp
        self._hooks = hooks or NO_HOOKS

    async def start(self) -> None:
        """The run begins."""
        await self._observe(self._hooks.on_start, RunPayload(*self._stamp))

    async def end(self) -> None:
        """The run is over."""
        await self._observe(self._hooks.on_end, RunPayload(*self._stamp))

    async def change_prompt(self, prompt: str) -> str:
        """The prompt that is stored."""
        hooks = self._hooks.pre_message
        if not hooks:
            return prompt
        payload = PromptPayload(self._stamp.conversation, prompt)
        found = await self._run(
            lambda runner: runner.results(hooks, payload, lambda old, new: old._replace(prompt=new))
        )
        return found[-1] if found else prompt

    async def run_post_message(self, prompt: str, response: str) -> None:
        """An answer is stored."""
        if self._hooks.post_message:
            payload = AnswerPayload(self._stamp.conversation, prompt, response)
            await self._observe(self._hooks.post_message, payload)

    async def extend_system_prompt(self, text: str) -> str:
        """The system prompt with the texts of hooks before and after it, in the order of the hooks."""
        if not (self._hooks.pre_system_prompt or self._hooks.post_system_prompt):
            return text
        return await self._run(partial(self._extend, text))

    def _extend(self, text: str, runner: HookRunner) -> str:
        read = self._conversation.conversation.read_note
        payload = SystemPromptPayload(self._stamp.conversation, read("summary"), read("todos"), read("goals"))
        before = runner.results(self._hooks.pre_system_prompt, payload)
        after = runner.results(self._hooks.post_system_prompt, payload)
        return "\n\n".join(part for part in (*before, text, *after) if part)

    async def filter_tools(self, tools: tuple[ToolOffer, ...], fuel: Fuel) -> tuple[ToolOffer, ...]:
        """The tools that all hooks include and none excludes."""
        hooks = self._hooks.pre_api_tools
        if not hooks:
            return tools
        payload = OfferPayload(self._stamp.conversation, tools, fuel)
        for wanted in await self._run(lambda runner: runner.results(hooks, payload)):
            included = [tool for tool in tools if wanted.include is None or tool.name in wanted.include]
            tools = tuple(tool for tool in included if tool.name not in wanted.exclude)
        return tools

    async def change_request(self, request: ModelRequest, fuel: Fuel) -> ModelRequest:
        """The request that is sent."""
        hooks = self._hooks.pre_api_request
        if not hooks:
            return request
        payload = RequestPayload(self._stamp.conversation, request, fuel)
        found = await self._run(
            lambda runner: runner.results(hooks, payload, lambda old, new: old._replace(request=new))
        )
        return found[-1] if found else request

    async def run_pre_loop(self, fallback: str, fuel: Fuel, prompt: str) -> LoopChange | None:
        """What hooks change before the model is asked about a new prompt."""
        payload = LoopPayload(self._stamp.conversation, fallback, fuel, prompt=prompt)
        return await self._change_loop(self._hooks.pre_agentic_loop, payload)

    async def run_post_batch(self, fallback: str, fuel: Fuel, calls: tuple[tuple[str, str], ...]) -> LoopChange | None:
        """What hooks change after the calls of a reply."""
        payload = LoopPayload(self._stamp.conversation, fallback, fuel, calls=calls)
        return await self._change_loop(self._hooks.post_tool_batch, payload)

    async def _change_loop(
        self, hooks: Sequence[Hook[LoopPayload, LoopChange]], payload: LoopPayload
    ) -> LoopChange | None:
        """The last fallback and the last fuel count, and the sum of the changes."""
        if not hooks:
            return None
        total = LoopChange()
        for change in await self._run(lambda runner: runner.results(hooks, payload)):
            total = LoopChange(
                fallback=change.fallback or total.fallback,
                fuel=total.fuel if change.fuel is None else change.fuel,
                fuel_delta=total.fuel_delta + change.fuel_delta,
            )
        return total

    async def _observe(self, hooks: Sequence[Observer[P]], payload: P) -> None:
        if hooks:
            await self._run(lambda runner: runner.observe(hooks, payload))

    async def _run(self, work: Callable[[HookRunner], T]) -> T:
        runner = HookRunner()
        result = await self._conversation.run_in_thread(partial(work, runner))
        for note in runner.notes:
            await self._conversation.emit(Notice(note))
        return result
