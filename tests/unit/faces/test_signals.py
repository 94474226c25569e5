import os
import signal
import subprocess
import sys
import threading

import anyio
import anyio.lowlevel
import anyio.to_thread
import pytest

from fakes.program import lasting_signals
from marid.faces.signals import TERMINATION_SIGNALS, SignalGuard


@pytest.mark.parametrize("number", TERMINATION_SIGNALS)
def test_outside_of_a_round_the_first_one_is_raised_where_the_program_is(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with lasting_signals() as signals:
        assert (signals.exit_code, signals.first) == (0, None)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
        assert (signals.exit_code, signals.first) == (128 + number, number)
    assert signal.getsignal(number) is before


def test_while_they_are_held_nothing_is_raised_and_whoever_waits_is_told() -> None:
    async def held() -> int:
        with lasting_signals() as signals, signals.defer_interrupts(), anyio.fail_after(30):
            os.kill(os.getpid(), signal.SIGINT)
            await signals.cancel_on_signal(anyio.CancelScope())
            return signals.exit_code

    assert anyio.run(held) == 130


@pytest.mark.parametrize("number", TERMINATION_SIGNALS)
def test_a_signal_cancels_a_round_as_a_whole(number: signal.Signals) -> None:
    stored: list[str] = []

    async def work() -> None:
        os.kill(os.getpid(), number)
        try:
            await anyio.sleep(30)
        except BaseException:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
            stored.append("what there was")
            raise

    with lasting_signals() as signals, pytest.raises(KeyboardInterrupt):
        anyio.run(signals.run_cancellable, work)
    assert stored == ["what there was"]


def test_without_a_signal_a_round_ends_by_itself() -> None:
    done: list[int] = []

    async def work() -> None:
        done.append(1)

    with lasting_signals() as signals:
        anyio.run(signals.run_cancellable, work)
    assert done == [1]


def test_whoever_is_asked_again_is_told_and_the_first_one_counts() -> None:
    again: list[int] = []
    with SignalGuard(on_repeat=again.append, on_hang=lambda number: None, grace=600) as signals:
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGINT)
        assert signals.first is signal.SIGTERM
    assert again == [signal.SIGINT]


def test_who_hangs_is_told_of() -> None:
    told = threading.Event()
    with SignalGuard(on_hang=lambda number: told.set(), grace=0.01):
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        assert told.wait(30)


def test_afterwards_everything_is_as_before() -> None:
    before = [signal.getsignal(number) for number in TERMINATION_SIGNALS]
    with lasting_signals():
        assert [signal.getsignal(number) for number in TERMINATION_SIGNALS] != before
    assert [signal.getsignal(number) for number in TERMINATION_SIGNALS] == before


def test_what_whoever_started_us_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with lasting_signals() as signals:
            os.kill(os.getpid(), signal.SIGHUP)
            assert signals.exit_code == 0
    finally:
        signal.signal(signal.SIGHUP, before)


def test_once_it_is_too_late_signals_are_ignored() -> None:
    with lasting_signals() as signals:
        signals.ignore()
        for number in TERMINATION_SIGNALS:
            os.kill(os.getpid(), number)
    assert signals.first is None


def test_no_thread_is_begun_while_a_signal_is_taken() -> None:
    with lasting_signals():
        before = {*threading.enumerate()}
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        assert {*threading.enumerate()} <= before


def test_a_thread_has_no_signals_and_works_all_the_same() -> None:
    async def elsewhere() -> int:
        def enter() -> int:
            with lasting_signals() as signals:
                return signals.exit_code

        return await anyio.to_thread.run_sync(enter)

    assert anyio.run(elsewhere) == 0


def ended(program: str) -> tuple[int, bytes]:
    head = "import os, signal, time\nfrom marid.faces.signals import SignalGuard, install_early_handlers\n"
    done = subprocess.run([sys.executable, "-c", head + program], stderr=subprocess.PIPE, check=False, timeout=30)
    return done.returncode, done.stderr


def test_a_second_one_ends_the_process_at_once() -> None:
    program = (
        "with SignalGuard() as signals, signals.defer_interrupts():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    time.sleep(20)\n"
    )
    assert ended(program) == (143, b"")


def test_a_round_that_hangs_is_ended_when_patience_is() -> None:
    program = (
        "with SignalGuard(grace=0.05) as signals, signals.defer_interrupts():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(20)\n"
    )
    assert ended(program) == (130, b"")


def test_one_that_comes_early_has_its_last_words_and_one_that_comes_late_none() -> None:
    early = "install_early_handlers(lambda name: f'last: {name}'.encode())\n"
    term = "os.kill(os.getpid(), signal.SIGTERM)\n"
    assert ended(f"{early}{term}time.sleep(20)") == (143, b"last: SIGTERM")
    assert ended(f"{early}with SignalGuard() as signals: pass\n{term}") == (0, b"")
