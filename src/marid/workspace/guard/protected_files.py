"""Files that no caller may use (the home, history files, hard links to either) and names that writing must respect.

Some files run code without being called: when one enters a folder, opens an editor, starts a shell, Python or a
debugger, tests, commits, pushes or installs. A `Makefile` or a `package.json` runs only when called.
"""

import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

from marid.workspace.dirfd_walk import Identity, identity_of

# Characters that some file systems ignore when they compare names.
_IGNORED_CHARACTERS = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
_GIT_SHORT_NAME = re.compile(r"git~[0-9]+")
# A shell would expand these; here they would be odd names, which the caller does not mean.
_SHELL_EXPANSION = re.compile(r"~[^/]*/|~$|\$\{?[A-Z_][A-Z0-9_]*\}?(/|$)|%[A-Z_][A-Z0-9_]*%([/\\]|$)")

_HISTORY = "history.toml"


def _by_name(reasons: dict[str, str]) -> dict[str, str]:
    return {name: reason for reason, names in reasons.items() for name in names.split()}


# Whole names in lower case, by what runs or obeys the file.
_AUTORUN_NAMES = _by_name(
    {
        "names programs that other assistants start": ".mcp.json",
        "is run by direnv on entering the folder": ".envrc",
        "sets the environment of programs": ".env",
        "tells git where to fetch from": ".gitmodules",
        "gives options to ripgrep": ".ripgreprc",
        "names what runs at every commit": ".pre-commit-config.yaml lefthook.yml lefthook.yaml",
        "is run by CI": (
            ".gitlab-ci.yml .travis.yml .drone.yml .woodpecker.yml azure-pipelines.yml bitbucket-pipelines.yml "
            "appveyor.yml jenkinsfile"
        ),
        "is run by pytest before any test": "conftest.py",
        "is run at every start of Python": "sitecustomize.py usercustomize.py",
        "is run when the project is installed": "setup.py",
        "can name code that runs when the project is installed": "setup.cfg",
        "tells npm what to run and where to fetch from": ".npmrc",
        "names a program that yarn runs": ".yarnrc .yarnrc.yml",
        "is run by pnpm when it installs": ".pnpmfile.cjs",
        "is run by the shell": (
            ".bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zshenv .zprofile .zlogin .cshrc .tcshrc"
        ),
        "is obeyed by the shell": ".inputrc",
        "can name programs that git runs": ".gitconfig",
        "is run by the editor": ".vimrc .exrc .nvimrc .nvim.lua",
        "is obeyed by the editor": ".dir-locals.el",
        "is run by the debugger": ".gdbinit .lldbinit .pdbrc",
    }
)
# Folders in lower case, with everything in them.
_AUTORUN_FOLDERS = _by_name(
    {
        "holds tasks that the editor runs": ".vscode .idea",
        "holds commands that the editor runs": ".devcontainer",
        "is run by CI": ".circleci .buildkite",
        "is run at every commit": ".husky",
        "is run by git": ".githooks",
        "tells other assistants what to run": ".claude .cursor .codex .gemini",
        "tells this program what to do": ".marid",
        "is run on entering the folder": ".direnv",
    }
)
_AUTORUN_PAIRS = {
    (".github", "workflows"): "is run by CI",
    (".github", "actions"): "is run by CI",
    (".gitea", "workflows"): "is run by CI",
    (".forgejo", "workflows"): "is run by CI",
    (".cargo", "config.toml"): "names programs that cargo runs",
    (".cargo", "config"): "names programs that cargo runs",
}
_AUTORUN_SUFFIXES = {".pth": "is run at every start of Python", ".code-workspace": "holds tasks that the editor runs"}
# A file system's clock may lag behind by some ticks.
_CLOCK_LAG_NS = 50_000_000
_FUTURE_NS = 1_000_000_000


def is_history_file(name: str) -> bool:
    """Whether a file of this name holds conversations; case is ignored."""
    if len(name) < len(_HISTORY):
        return False
    folded = name.casefold()
    return folded == _HISTORY or folded.endswith(f"_{_HISTORY}")


def without_history_files(names: list[str]) -> list[str]:
    """`names` without history files; one test of all names together suffices for nearly every folder."""
    if _HISTORY not in "\n".join(names).casefold():
        return names
    return [name for name in names if not is_history_file(name)]


def is_git_dir_name(name: str) -> bool:
    """Whether some file system would treat `name`, one part of a path, as `.git`."""
    if name == ".git":
        return True
    plain = name if name.isascii() else name.translate(_IGNORED_CHARACTERS)
    plain = plain.partition(":")[0].rstrip(". ").casefold()
    return plain == ".git" or _GIT_SHORT_NAME.fullmatch(plain) is not None


def has_shell_expansion(raw: str) -> bool:
    """Whether a shell would expand a tilde or variable at the beginning of `raw`."""
    return raw[:1] in ("~", "$", "%") and _SHELL_EXPANSION.match(raw) is not None


def autorun_reason(name: str) -> str:
    """What runs the file `name`, a path below a root, without being called; "" if nothing does."""
    parts = [part.rstrip(". ").casefold() for part in name.split("/")]
    last = parts[-1]
    found = _AUTORUN_NAMES.get(last) or next((why for end, why in _AUTORUN_SUFFIXES.items() if last.endswith(end)), "")
    found = found or next((_AUTORUN_FOLDERS[part] for part in parts if part in _AUTORUN_FOLDERS), "")
    return found or next((_AUTORUN_PAIRS[pair] for pair in pairwise(parts) if pair in _AUTORUN_PAIRS), "")


class ProtectedFiles:
    """Knows the home and finds hard links; `roots` are searched for history files only if a file has a second name."""

    def __init__(self, home: str = "", roots: Sequence[str] = ()) -> None:
        self.home = os.path.realpath(home) if home else ""
        self._roots = tuple(roots)
        # The protected files as they were at a time, in nanoseconds.
        self._snapshot: tuple[frozenset[Identity], int] = frozenset(), 0

    def home_below(self, root: str) -> str | None:
        """The name of the home below `root`; "." if `root` is in the home; None if they are apart."""
        if not self.home:
            return None
        prefix = root.rstrip("/") + "/"
        if prefix.startswith(self.home.rstrip("/") + "/"):
            return "."
        return self.home[len(prefix) :] if self.home.startswith(prefix) else None

    def is_protected_link(self, about: os.stat_result) -> bool:
        """Whether an open file is a hard link to a protected one. Cheap for a file with one name."""
        if about.st_nlink < 2:
            return False
        identities, taken_at = self._snapshot
        now = time.time_ns()
        # A new link changes the ctime, so the snapshot is right for a file that is older than the snapshot. If the
        # ctime is in the future and the snapshot fresh, taking it again would not help.
        is_futile = about.st_ctime_ns > now + _FUTURE_NS and now - taken_at < _FUTURE_NS
        if about.st_ctime_ns >= taken_at - _CLOCK_LAG_NS and not is_futile:
            identities = frozenset(self._collect_identities())
            self._snapshot = identities, now
        return (about.st_dev, about.st_ino) in identities

    def _collect_identities(self) -> Iterator[Identity]:
        for top in (*self._roots, self.home) if self.home else self._roots:
            for folder, _, files in os.walk(top):
                for name in files:
                    if top == self.home or is_history_file(name):
                        with suppress(OSError):
                            about = os.lstat(os.path.join(folder, name))
                            yield about.st_dev, about.st_ino


class ListingFilter:
    """Removes protected names from listings of folders below `root`."""

    def __init__(self, protected: ProtectedFiles, root: str) -> None:
        self._home = os.path.basename(protected.home)
        self._parent: Identity | None = None
        if protected.home_below(root):
            with suppress(OSError):
                self._parent = identity_of(os.path.dirname(protected.home))

    def visible_names(self, names: list[str], fd: int) -> list[str]:
        """Those of `names` in the open folder `fd` that are not protected."""
        if self._parent is not None and self._home in names and identity_of(fd) == self._parent:
            names = [name for name in names if name != self._home]
        return without_history_files(names)
