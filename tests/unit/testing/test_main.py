"""The server as a command."""

import io
import signal
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import pytest

from marid.core.errors import BadInput
from marid.testing.__main__ import serve


def test_it_prints_its_addresses_and_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"turns": ["hello"], "models": ["mine"]}')
    process = subprocess.Popen(
        [sys.executable, "-m", "marid.testing", str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    addresses = dict(process.stdout.readline().split() for _ in range(3))
    with urllib.request.urlopen(f"{addresses['openai']}/models", timeout=60) as answer:
        assert b'"mine"' in answer.read()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0


def test_an_invalid_script_is_reported_without_a_traceback(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text("{")
    command = [sys.executable, "-m", "marid.testing", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("marid.testing: the script is not JSON")


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot read '.*gone\.json'"):
        serve([str(tmp_path / "gone.json")], io.StringIO(), threading.Event())


def test_a_port_may_be_chosen(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"turns": []}')
    over, out = threading.Event(), io.StringIO()
    over.set()
    serve([str(script), "--port", "0"], out, over)
    assert [line.split("\t")[0] for line in out.getvalue().splitlines()] == ["openai", "anthropic", "google"]
