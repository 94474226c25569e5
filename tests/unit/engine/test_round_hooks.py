from pathlib import Path

import anyio

from fakes.events import emit_into
from marid.adapters.store.conversations import FileConversations
from marid.core.hooks import Hooks, LoopChange, PromptPayload
from marid.engine.async_conversation import AsyncConversation
from marid.engine.round_entries import RoundStamp
from marid.engine.round_hooks import RoundHooks
from marid.toolkit.thread_pool import DaemonThreadPool


def round_hooks(place: Path, hooks: Hooks | None) -> RoundHooks:
    conversation = FileConversations(str(place)).open("c", create=True)
    return RoundHooks(AsyncConversation(conversation, emit_into([]), DaemonThreadPool()), RoundStamp("c", "r1"), hooks)


def test_without_hooks_nothing_is_run_and_nothing_changes(tmp_path: Path) -> None:
    hooks = round_hooks(tmp_path, None)
    assert anyio.run(hooks.change_prompt, "p") == "p"
    assert anyio.run(hooks.run_pre_loop, "call_user", None, "p") is None


def test_changes_of_the_loop_add_up(tmp_path: Path) -> None:
    changes = (LoopChange(fuel=3), LoopChange(fallback="call_agent", fuel_delta=2), LoopChange(fuel_delta=-1))
    hooks = Hooks(post_tool_batch=tuple(lambda payload, change=change: change for change in changes))
    changed = anyio.run(round_hooks(tmp_path, hooks).run_post_batch, "call_user", None, ())
    assert changed == LoopChange("call_agent", 3, 1)


def test_a_hook_that_changes_nothing_leaves_the_prompt(tmp_path: Path) -> None:
    seen: list[PromptPayload] = []
    assert anyio.run(round_hooks(tmp_path, Hooks(pre_message=(seen.append,))).change_prompt, "p") == "p"
    assert seen == [PromptPayload("c", "p")]
