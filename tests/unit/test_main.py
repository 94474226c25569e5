import os
import subprocess
import sys
from pathlib import Path

import pytest

from marid import __version__


def started(folder: Path, script: str) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "MARID_HOME": str(folder / "home"), "PYTHON": sys.executable}
    return subprocess.run(["sh", "-c", script], cwd=folder, env=env, capture_output=True, timeout=60, check=False)


def test_the_module_is_the_program(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    done = started(tmp_path, '"$PYTHON" -m marid context -l')
    assert (done.returncode, done.stdout, done.stderr) == (0, b"a.py\n", b"")


def test_its_exit_code_is_that_of_the_command(tmp_path: Path) -> None:
    assert started(tmp_path, '"$PYTHON" -m marid context gone').returncode == 4


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_an_output_that_is_closed_is_no_bug(tmp_path: Path, closed: str) -> None:
    (tmp_path / "a.py").write_text("x")
    done = started(tmp_path, f'"$PYTHON" -m marid context --tokens {closed}')
    assert (done.returncode, done.stderr) == (0, b"")
    assert started(tmp_path, f'"$PYTHON" -m marid context gone {closed}').returncode == 4


def test_ctrl_c_while_the_program_is_still_coming_up_ends_quietly(tmp_path: Path) -> None:
    (tmp_path / "early").mkdir()
    # A module of this name is among the first that the program imports.
    (tmp_path / "early" / "sitecustomize.py").write_text(
        "import sys\n"
        "class Impatient:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'marid.launch':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Impatient())\n"
    )
    done = started(tmp_path, 'PYTHONPATH=early "$PYTHON" -m marid context')
    assert (done.returncode, done.stderr) == (130, b"")


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_told_at_once(tmp_path: Path, flag: str) -> None:
    done = started(tmp_path, f'"$PYTHON" -m marid {flag}')
    assert (done.returncode, done.stdout, done.stderr) == (0, f"marid {__version__}\n".encode(), b"")


def test_a_version_that_nobody_can_read_is_told_as_for_every_command(tmp_path: Path) -> None:
    assert started(tmp_path, '"$PYTHON" -m marid --version >/dev/full').returncode == 6
    assert started(tmp_path, '"$PYTHON" -m marid --version >&-').returncode == 0
