import os
import subprocess
import sys
from pathlib import Path

import pytest


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
