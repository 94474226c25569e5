import json
import os
import signal
import subprocess
import sys

import pytest

from marid.faces.pipe.early_signals import interruption_message

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
