"""One conversation with a real model, however small."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

SERVER = Path(__file__).parents[1] / "fakes" / "small_model.py"


@pytest.mark.soak
def test_a_real_small_model_streams_an_answer_that_is_kept(tmp_path: Path) -> None:
    if find_spec("xllamacpp") is None and os.environ.get("MARID_WITHOUT_SMALL_MODEL"):
        pytest.skip("MARID_WITHOUT_SMALL_MODEL: no model to run")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "MARID_HOME": str(tmp_path / "home")}
    command = [sys.executable, str(SERVER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        try:
            address = server.stdout.readline().strip()
            assert address.startswith("http://"), "the model could not be served"
            settings = f'base_url = "{address}/v1"\nno_tool_calls = true\n[api]\nmax_tokens = 16\n'
            (tmp_path / "home").mkdir()
            (tmp_path / "home/config.toml").write_text(settings)
            done = subprocess.run(
                [sys.executable, "-m", "marid", "-s", "reflection_enabled=false", "Say hello."],
                cwd=tmp_path,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
        finally:
            server.stdin.close()
            server.kill()
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    entries = (tmp_path / "home/contexts/default/transcript/active.jsonl").read_text()
    assert '"role":"agent"' in entries
