import anyio

from fakes.conversations import FakeConversations
from fakes.events import emit_into
from marid.core.hooks import Hooks, LoopChange, PromptPayload
from marid.engine.async_conversation import AsyncConversation
from marid.engine.round_entries import RoundStamp
from marid.engine.round_hooks import RoundHooks
from marid.toolkit.thread_pool import DaemonThreadPool


def test_without_hooks_nothing_is_run_and_nothing_changes() -> None:
    async def main() -> None:
        hooks = RoundHooks(
            AsyncConversation(FakeConversations().open("c", create=True), emit_into([]), DaemonThreadPool()),
            STAMP,
            None,
        )
        assert await hooks.change_prompt("p") == "p"
        assert await hooks.run_pre_loop("call_user", None, "p") is None

    anyio.run(main)


STAMP = RoundStamp("c", "r1")


def test_changes_of_the_loop_add_up() -> None:
    changes = (LoopChange(fuel=3), LoopChange(fallback="call_agent", fuel_delta=2), LoopChange(fuel_delta=-1))
    hooks = Hooks(post_tool_batch=tuple(lambda payload, change=change: change for change in changes))

    async def main() -> LoopChange | None:
        conversation = AsyncConversation(FakeConversations().open("c", create=True), emit_into([]), DaemonThreadPool())
        return await RoundHooks(conversation, STAMP, hooks).run_post_batch("call_user", None, ())

    assert anyio.run(main) == LoopChange("call_agent", 3, 1)


def test_a_hook_that_changes_nothing_leaves_the_prompt() -> None:
    seen: list[PromptPayload] = []

    async def main() -> str:
        conversation = AsyncConversation(FakeConversations().open("c", create=True), emit_into([]), DaemonThreadPool())
        return await RoundHooks(conversation, STAMP, Hooks(pre_message=(seen.append,))).change_prompt("p")

    assert anyio.run(main) == "p"
    assert seen == [PromptPayload("c", "p")]
