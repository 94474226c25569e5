"""The program as a user has it: a wheel of this tree, installed by pip into an environment of its own."""

import os
import subprocess
import sys
import venv
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def install(scratch: Path) -> tuple[Path, Path]:
    """Build and install into `scratch`: its interpreter and its `marid`. Nothing is fetched.

    Its dependencies are left out: what is measured imports none of them, and would fail if it did.
    """
    wheels = scratch / "wheels"
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(wheels)])
    place = scratch / "venv"
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    (wheel,) = wheels.glob("*.whl")
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", str(wheel)]
    _run([*command, "--disable-pip-version-check"])
    return python, place / "bin" / "marid"


def _run(command: list[str]) -> None:
    # Compiled modules are what an installed program has.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, cwd=_ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
