"""A real repository in a temporary folder, made by the plain git program with a home of its own."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

WHO = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_AUTHOR_DATE": "2024-05-06T07:08:09+00:00",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_COMMITTER_DATE": "2024-05-06T07:08:09+00:00",
}


@dataclass(frozen=True, kw_only=True)
class Worktree:
    """`env` is what an adapter under test is given; setting up uses the same home."""

    path: Path
    env: Mapping[str, str]

    @property
    def folder(self) -> str:
        return str(self.path)

    def git(self, *args: str, check: bool = True, cwd: Path | None = None, given: bytes = b"") -> bytes:
        """What plain git prints, with every setting of the repository and the user in force."""
        env = {**self.env, **WHO, "LC_ALL": "C"}
        done = subprocess.run(
            ["git", *args], cwd=cwd or self.path, env=env, input=given, capture_output=True, timeout=60, check=False
        )
        if check and done.returncode:
            raise AssertionError(done.stderr.decode())
        return done.stdout

    def config(self, *settings: tuple[str, str]) -> None:
        """Write settings into the repository's own configuration."""
        for name, value in settings:
            self.git("config", "--add", name, value)

    def write(self, name: str, data: bytes) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def remove(self, name: str) -> None:
        (self.path / name).unlink()

    def commit(self, subject: str, files: Mapping[str, bytes]) -> str:
        """Write the files, commit everything there is, and return the hash."""
        for name, data in files.items():
            self.write(name, data)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD").decode().strip()


def new_worktree(place: Path, name: str = "project", *options: str) -> Worktree:
    """An empty repository `name` in `place`, beside a home folder without configuration."""
    home = place / "home"
    home.mkdir(exist_ok=True)
    path = place / name
    path.mkdir()
    tree = Worktree(path=path, env={"PATH": os.environ["PATH"], "HOME": str(home)})
    tree.git("init", "--quiet", "--initial-branch=main", "--template=", *options)
    return tree


@dataclass(frozen=True, kw_only=True)
class Canary:
    """A program that does nothing but leave a mark when it is run."""

    program: Path
    mark: Path

    @property
    def command(self) -> str:
        return str(self.program)

    def was_run(self) -> bool:
        return self.mark.exists()


def new_canary(place: Path) -> Canary:
    canary = Canary(program=place / "canary", mark=place / "mark")
    canary.program.write_text(f"#!/bin/sh\n: > '{canary.mark}'\n")
    canary.program.chmod(0o755)
    return canary
