"""The long conversation whose memory is measured."""

from functools import partial
from pathlib import Path

import anyio
from bench.conversation import rounds

from marid.adapters.store.conversations import FileConversations
from marid.bootstrap.wiring import open_request
from marid.core.conversation.entry import ARCHIVAL, MESSAGE
from marid.testing import ModelServer, always, say


def test_it_runs_rounds_and_is_cleared_now_and_then(tmp_path: Path) -> None:
    scope = open_request(cwd=str(tmp_path), home=str(tmp_path / "home"), environ={})
    with ModelServer([always(say("yes"))]) as server:
        talking = partial(rounds.talk, scope, server.openai, 2 * rounds.CLEARED_EVERY, 10)
        early, late = anyio.run(talking)
    assert early > 1_000_000
    assert late > 1_000_000
    read = FileConversations(str(tmp_path / "home")).read(rounds.NAME)
    assert len(list(read.entries(types=[MESSAGE]))) == 4 * rounds.CLEARED_EVERY
    assert len(list(read.entries(types=[ARCHIVAL]))) == 2
    assert len(read.window()) == 1


def test_the_growth_of_another_process_is_measured(tmp_path: Path) -> None:
    assert -50 < rounds.measure_growth(str(tmp_path), 20) < 50
