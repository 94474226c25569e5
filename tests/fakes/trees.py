"""Real trees of files in a temporary folder, and what a walk selects of them."""

import os
import subprocess
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from marid.workspace.rules.ignore_files import UserGitFiles
from marid.workspace.rules.parse import parse_contextfile, parse_inline
from marid.workspace.walk import Folder, FolderListing, SelectionRules, Walker


@contextmanager
def scratch() -> Generator[str, None, None]:
    """A folder for one example, in memory where that is possible: hypothesis makes thousands of them."""
    memory = "/dev/shm"
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        os.chmod(folder, 0o755)
        yield os.path.realpath(folder)


def plant(top: Path | str, files: Mapping[str, str | bytes]) -> None:
    """Make the files below `top`; a name that ends with `/` is a folder."""
    for name, content in files.items():
        place = os.path.join(top, name)
        if name.endswith("/"):
            os.makedirs(place, exist_ok=True)
            continue
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape"))


def plant_names(top: Path | str, *names: str) -> None:
    """Files of which only the names matter."""
    plant(top, dict.fromkeys(names, "text\n"))


def plant_chain(top: Path | str, name: str, depth: int, files: Mapping[str, str]) -> None:
    """`depth` folders of that name, each in the one before and all holding `files`, however long the path becomes."""
    at = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir(name, dir_fd=at)
        below = os.open(name, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
        for path, content in files.items():
            folder, _, file = path.rpartition("/")
            if folder:
                os.mkdir(folder, dir_fd=at)
            place = os.open(folder, os.O_RDONLY, dir_fd=at) if folder else os.dup(at)
            made = os.open(file, os.O_WRONLY | os.O_CREAT, dir_fd=place)
            os.write(made, content.encode())
            os.close(made)
            os.close(place)
    os.close(at)


def plant_repository(top: Path | str, *, config: str = "", exclude: str = "") -> None:
    """The least that git takes for a repository, without running it."""
    plant(
        os.path.join(top, ".git"),
        {
            "HEAD": "ref: refs/heads/main\n",
            "objects/": "",
            "refs/heads/": "",
            "config": f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n{config}",
            "info/exclude": exclude,
        },
    )


def paths_of(folders: Iterable[Folder]) -> list[str]:
    """The selected paths, in the order of the walk."""
    return [f"{folder.path}/{name}" if folder.path else name for folder in folders for name in folder.names]


class Problems(list[tuple[str, str]]):
    """Listens, and keeps what it heard."""

    def __call__(self, path: str, reason: str) -> None:
        self.append((path, reason))


class CountingWalker(Walker):
    """Remembers how many folders it listed."""

    listed = 0

    def _list(self, fd: int) -> FolderListing:
        self.listed += 1
        return super()._list(fd)


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Rules as a user writes them, beside those that lie in the tree."""

    inline: tuple[str, ...] = ()
    config: str = ""
    ignores: bool = True
    defaults: bool = True
    user: UserGitFiles = field(default_factory=UserGitFiles)

    def ruling(self) -> SelectionRules:
        return SelectionRules(
            inline=parse_inline(self.inline),
            config=parse_contextfile(self.config),
            config_origin="rules.txt",
            ignores=self.ignores,
            defaults=self.defaults,
            user_git_files=self.user,
        )


def walker(top: Path | str, *inline: str, defaults: bool = True, ignores: bool = True) -> Walker:
    """A walker with rules of the command line."""
    return Walker(os.path.realpath(top), Rules(inline=inline, defaults=defaults, ignores=ignores).ruling())


def selected(top: Path | str, *inline: str, defaults: bool = True, ignores: bool = True) -> list[str]:
    """What a walk of `top` selects."""
    return paths_of(walker(top, *inline, defaults=defaults, ignores=ignores).walk())


def listed_by_git(top: Path | str, home: Path | str) -> list[str]:
    """Every file that is not ignored, as git sees it with `home` as the user's home."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    command = ["git", "ls-files", "-co", "--exclude-standard", "-z"]
    done = subprocess.run(command, cwd=top, env=env, capture_output=True, timeout=60, check=True)
    return [os.fsdecode(name) for name in done.stdout.split(b"\0") if name]
