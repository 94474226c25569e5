import os
import sys
from pathlib import Path

import pytest
from bench.context.watch import Watched, measure

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="CPU times come from /proc")


def test_a_program_that_ends_instead_of_watching_is_a_failure_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text("pass\n")
    program = tmp_path / "marid"
    program.write_text(f"#!{sys.executable}\nraise SystemExit('no such option --watch')\n")
    program.chmod(0o700)
    watched = Watched(
        tree=str(tmp_path / "tree"),
        copy=str(tmp_path / "copy"),
        output=str(tmp_path / "out"),
        errors=str(tmp_path / "errors"),
    )
    cost = measure(str(program), watched, os.environ)
    assert cost.failure == "it ended: no such option --watch"
    assert not cost.impossible
    assert not (tmp_path / "copy").exists()
