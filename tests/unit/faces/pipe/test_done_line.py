import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from marid.core.conversation.records import Conflict, ConversationLocked, Corrupt, SequenceConflict
from marid.core.errors import EXIT_STATUS, BadInput, Exhausted, MaridError, NotFound, OutsideRoots, Refused, Unavailable
from marid.core.settings.values import BadSettingsFile
from marid.faces.pipe.done_line import FAMILY_CODES, DoneLine, error_from_code, error_report
from marid.faces.pipe.early_signals import interruption_message
from marid.faces.pipe.json_lines import JsonLineWriter
from marid.faces.signals import SignalGuard


def _left(code: int) -> None:
    raise AssertionError(f"left with {code}")


def ended(work: Callable[[SignalGuard], None], **more: Any) -> tuple[int, list[Any]]:
    err = io.BytesIO()
    more = {"grace": 600, "leave": _left, **more}
    done = DoneLine(JsonLineWriter(io.BytesIO(), err), **more)
    with done.guard() as signals:
        work(signals)
    return done.exit_code, [json.loads(line) for line in err.getvalue().splitlines()]


def test_work_that_is_done_is_ok() -> None:
    assert ended(lambda _: None) == (0, [{"type": "done", "ok": True}])


def test_an_error_has_its_code_and_its_words() -> None:
    def work(_: SignalGuard) -> None:
        raise NotFound("no such thing")

    assert ended(work) == (4, [{"type": "done", "ok": False, "code": "not_found", "message": "no such thing"}])


def test_a_bug_has_its_last_line_too() -> None:
    code, [line] = ended(lambda _: print(1 // 0))
    assert (code, line["code"]) == (70, "internal_error")
    assert "ZeroDivisionError" in line["message"]


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_whoever_is_told_to_end_says_so(number: signal.Signals, status: int) -> None:
    code, [line] = ended(lambda _: os.kill(os.getpid(), number))
    assert (code, line["ok"], line["message"]) == (status, False, f"interrupted ({number.name})")


def test_an_interrupt_of_ones_own_is_one_too() -> None:
    def work(_: SignalGuard) -> None:
        raise KeyboardInterrupt

    assert ended(work)[0] == 130


def test_who_hangs_after_a_signal_is_not_waited_for() -> None:
    left: list[int] = []
    gone = threading.Event()
    err = io.BytesIO()

    def leave(code: int) -> None:
        left.append(code)
        gone.set()

    done = DoneLine(JsonLineWriter(io.BytesIO(), err), grace=0.01, leave=leave)
    with pytest.raises(SystemExit), done.guard():  # noqa: PT012 - the signal comes inside of the block
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except KeyboardInterrupt:
            assert gone.wait(10)
            raise SystemExit from None  # in earnest the process is gone by now
    assert left == [143]
    [line] = map(json.loads, err.getvalue().splitlines())
    assert (line["type"], line["ok"]) == ("done", False)


def test_who_ends_just_in_time_has_one_last_line() -> None:
    err = io.BytesIO()
    ending = DoneLine(JsonLineWriter(io.BytesIO(), err), leave=lambda code: pytest.fail(f"left with {code}"))
    with ending.guard():
        pass
    assert ending.exit_code == 0
    ending._abandon(signal.SIGTERM)  # pyright: ignore[reportPrivateUsage] - as the one who waits does
    assert err.getvalue().count(b"done") == 1


_PROGRAM = (
    "import os, signal, time\n"
    "from marid.faces.pipe.early_signals import install_early_done\n"
    "install_early_done()\n"
    "os.kill(os.getpid(), signal.{name})\n"
    "time.sleep(20)\n"
)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_whoever_is_interrupted_while_the_program_is_read_says_so(number: signal.Signals) -> None:
    program = _PROGRAM.format(name=number.name)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (128 + number, b"")
    assert json.loads(done.stderr) == {
        "type": "done",
        "ok": False,
        "code": "internal_error",
        "message": interruption_message(number.name),
    }


@pytest.mark.parametrize("called", ["marid", "chibi-json"])
def test_the_program_takes_care_of_that_before_it_reads_the_rest_of_itself(called: str) -> None:
    # Importing the command is where a signal finds it: what is imported raises it.
    program = (
        "import importlib.abc, os, signal, sys\n"
        "class Finder(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'marid.launch.start':\n"
        "            os.kill(os.getpid(), signal.SIGTERM)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from marid.__main__ import main\n"
        f"sys.argv = {['chibi-json'] if called == 'chibi-json' else ['marid', 'json']}\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=60)
    assert (done.returncode, json.loads(done.stderr)["message"]) == (143, "interrupted (SIGTERM)")
    assert os.linesep.encode() in done.stderr


def test_every_family_has_a_code() -> None:
    assert set(FAMILY_CODES) == set(EXIT_STATUS)


@pytest.mark.parametrize(
    ("error", "code", "status"),
    [
        (BadInput("x"), "invalid_input", 2),
        (SequenceConflict("x", 1), "invalid_input", 2),
        (Conflict("x"), "already_exists", 2),
        (Refused("x"), "permission_denied", 3),
        (OutsideRoots("x", "/etc"), "permission_denied", 3),
        (NotFound("x"), "not_found", 4),
        (Exhausted("x"), "internal_error", 5),
        (Unavailable("x"), "internal_error", 6),
        (ConversationLocked("x", None), "already_exists", 6),
        (Corrupt("x"), "invalid_data", 6),
        (BadSettingsFile("x"), "invalid_data", 2),
        (MaridError("x"), "internal_error", 70),
    ],
)
def test_an_error_has_the_code_of_its_kind_and_the_exit_of_its_family(error: Exception, code: str, status: int) -> None:
    assert error_report(error) == (code, "x", status)


def test_a_bug_is_told_with_its_place() -> None:
    with pytest.raises(KeyError) as met:
        {}["x"]
    failure = error_report(met.value)
    assert (failure.code, failure.exit) == ("internal_error", 70)
    assert failure.message.startswith("a bug: KeyError: 'x' (test_done_line.py:")
    assert error_report(ValueError("x")).message == "a bug: ValueError: x"


def test_the_only_error_of_a_group_of_tasks_is_the_error() -> None:
    assert error_report(ExceptionGroup("tasks", [ExceptionGroup("tasks", [NotFound("x")])])).code == "not_found"
    assert error_report(ExceptionGroup("tasks", [NotFound("x"), Refused("y")])).code == "internal_error"


@pytest.mark.parametrize("code", EXIT_STATUS)
def test_a_failure_that_came_as_a_value_becomes_its_error(code: str) -> None:
    assert error_from_code(code, "x").code == code
