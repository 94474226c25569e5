"""The steps of a call that run the hooks of its scope."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from marid.core.errors import Refused
from marid.core.events import Notice
from marid.core.hooks import AccessPayload, CallPayload, Denial, Hook, HookRunner, Hooks, OutputPayload
from marid.core.policy.policy import Verdict
from marid.toolkit.dispatch import CallHandler, CallState, WorkThreads
from marid.toolkit.handles import Url
from marid.toolkit.outcome import Outcome, ToolOutput

T = TypeVar("T")


async def run_hooks(work: Callable[[HookRunner], T], threads: WorkThreads, call: CallState) -> T:
    """Run hooks of a call in a worker thread; emits what failed."""
    runner = HookRunner()
    result = await threads.run(partial(work, runner))
    for note in runner.notes:
        await call.scope.emit(Notice(note))
    return result


async def check_access(
    hooks: Sequence[Hook[AccessPayload, Denial]], threads: WorkThreads, call: CallState, *subjects: tuple[str, bytes]
) -> None:
    """Ask the hooks of one kind of access. Raises: Refused when one of them denies it."""
    for subject, content in subjects if hooks else ():
        payload = AccessPayload(call.scope.caller, call.call_id, call.tool_name, subject, content)
        denial = await run_hooks(lambda runner, about=payload: runner.denial(hooks, about), threads, call)
        if denial is not None:
            raise Refused(f"'{call.tool_name}' is not allowed here: {denial.reason}")


async def check_fetch(hooks: Hooks, threads: WorkThreads, call: CallState, host: str) -> None:
    """Ask the hooks about the URLs of a call, or about its host where it takes none. Raises: Refused."""
    urls = [str(value) for value in call.values.values() if isinstance(value, Url)]
    await check_access(hooks.pre_fetch_url, threads, call, *((url, b"") for url in urls or [host]))


@dataclass(frozen=True)
class HookCall:
    """Lets hooks change the arguments, which are parsed after this step, be stricter, and change the output."""

    threads: WorkThreads

    async def __call__(self, call: CallState, proceed: CallHandler) -> Outcome:
        hooks = call.scope.hooks
        if hooks is None:
            return await proceed(call)
        if hooks.pre_tool:
            await self._change_call(call, hooks)
        outcome = await proceed(call)
        if not isinstance(outcome, ToolOutput):
            return outcome
        if hooks.pre_tool_output:
            outcome = await self._change_output(call, outcome, hooks)
        call.full_output = outcome.text
        return outcome

    async def _change_call(self, call: CallState, hooks: Hooks) -> None:
        payload = CallPayload(call.scope.caller, call.call_id, call.tool_name, call.args)
        change = await run_hooks(lambda runner: runner.call_change(hooks.pre_tool, payload), self.threads, call)
        if change.verdict is Verdict.DENY:
            raise Refused(f"'{call.tool_name}' is not allowed here: {change.reason or 'a hook denies it'}")
        call.min_verdict = change.verdict
        if change.arguments is not None:
            call.args = dict(change.arguments)

    async def _change_output(self, call: CallState, outcome: ToolOutput, hooks: Hooks) -> ToolOutput:
        payload = OutputPayload(call.scope.caller, call.call_id, call.tool_name, call.args, outcome.text)
        text = await run_hooks(partial(_changed_output, hooks, payload), self.threads, call)
        return outcome if text == outcome.text else replace(outcome, text=text)


def _changed_output(hooks: Hooks, payload: OutputPayload, runner: HookRunner) -> str:
    for hook in hooks.pre_tool_output:
        for change in runner.results([hook], payload):
            payload = payload._replace(output=change.output)
            if change.stop:
                return payload.output
    return payload.output


@dataclass(frozen=True)
class ObserveCall:
    """Shows hooks the outcome, after it is clipped and recorded."""

    threads: WorkThreads

    async def __call__(self, call: CallState, proceed: CallHandler) -> Outcome:
        hooks = call.scope.hooks
        if hooks is None:
            return await proceed(call)
        arguments = call.args
        outcome = await proceed(call)
        full = outcome.text if call.full_output is None else call.full_output
        payload = OutputPayload(call.scope.caller, call.call_id, call.tool_name, arguments, full, outcome.text)

        def observe(runner: HookRunner) -> None:
            runner.observe(hooks.post_tool_output, payload)
            runner.observe(hooks.post_tool, payload)

        await run_hooks(observe, self.threads, call)
        return outcome
