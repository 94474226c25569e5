from pathlib import Path

import anyio
import pytest

from fakes.model import FakeModel, answer
from fakes.rounds import RoundHarness, tool_call
from marid.core.model_io import TextDelta
from marid.core.round_events import RoundEvent


def test_a_slow_listener_of_one_round_does_not_delay_another_round(tmp_path: Path) -> None:
    slow, quick = (RoundHarness(tmp_path, FakeModel(answer(tool_call("look")), answer("Done."))) for _ in range(2))

    async def main() -> None:
        reached, opened = anyio.Event(), anyio.Event()

        async def wait(what: RoundEvent) -> None:
            reached.set()
            await opened.wait()
            slow.heard.append(what)

        slow.emit = wait
        ends: list[str] = []

        async def run(talk: RoundHarness) -> None:
            ends.append((await talk.play("go")).text)

        with anyio.fail_after(10):
            async with anyio.create_task_group() as group:
                group.start_soon(run, slow)
                await reached.wait()
                await run(quick)
                assert (ends, slow.heard) == (["Done."], [])
                opened.set()
        assert ends == ["Done.", "Done."]

    anyio.run(main)
    assert [type(what) for what in slow.heard] == [type(what) for what in quick.heard]


def test_a_listener_that_fails_ends_the_round_and_what_came_is_stored(tmp_path: Path) -> None:
    talk = RoundHarness(tmp_path, FakeModel(answer("Half of it.")))

    async def fail(what: RoundEvent) -> None:
        if isinstance(what, TextDelta):
            raise OSError("the reader is gone")

    talk.emit = fail
    with pytest.raises(OSError, match="the reader is gone"):
        talk.say("go")
    assert talk.entries[-1].status == "failed"
    assert talk.entries[-1].content
