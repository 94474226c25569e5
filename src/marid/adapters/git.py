"""git state of a folder, read from a neutral view so that a hostile repository cannot make git run or read anything."""

import contextlib
import os
import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from marid.adapters import repositories
from marid.adapters.gitprogram import GitProgram, answered
from marid.adapters.processes import Limits, Outcome
from marid.adapters.repositories import Repository
from marid.core.errors import BadInput, MaridError, Refused
from marid.text import gitnames

RECENT = 300
PLAIN_DIFF = ("--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--relative")
PREFIXES = ("--src-prefix=a/", "--dst-prefix=b/")
PLAIN_LOG = ("--no-show-signature", "--no-decorate", "--no-mailmap", "--no-notes")
COMMIT_FORM = "--pretty=format:commit %H%nAuthor: %an%nDate:   %aI%n%n    %s%n"
USER_SETTINGS = r"^core\.(autocrlf|eol|excludesfile)$"
REPOSITORY_SETTINGS = "^(" + "|".join((*repositories.TAKEN_OVER, "core.worktree")).replace(".", r"\.") + ")$"
STRAYING = re.compile(rb"[\0/](?:\.\.?|\.git)?[/\0]", re.IGNORECASE)
EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


@dataclass(frozen=True, kw_only=True)
class View:
    """One folder of a repository, ready to be asked about."""

    git: GitProgram
    path: str
    top: str
    folder: str
    ignores: str
    empty_tree: str

    def ask(self, *args: str, cwd: str | None = None) -> Outcome:
        """What git answers about the folder; Unavailable when it fails."""
        places = {"GIT_DIR": self.path, "GIT_WORK_TREE": self.top}
        settings = ("-c", f"core.excludesFile={self.ignores}")
        outcome = self.git.alone(*settings, *args, cwd=cwd or self.folder, extra=places)
        named = outcome.err.replace(os.fsencode(self.path), b".git")
        return answered(replace(outcome, err=named), f"git {args[0]}")

    def commit(self, rev: str) -> str:
        """The hash of the commit that the revision names; BadInput when there is none."""
        outcome = self.ask("rev-parse", "--verify", "--quiet", "--end-of-options", gitnames.revision(rev) + "^{commit}")
        if outcome.status:
            raise BadInput(f"no such revision: {gitnames.shown(rev)}")
        return outcome.out.split()[-1].decode("ascii")

    def newest(self) -> str | None:
        """The hash of the commit that the working tree is based on, if there is a first commit."""
        outcome = self.ask("rev-parse", "--verify", "--quiet", "HEAD")
        return None if outcome.status else outcome.out.decode("ascii").strip()

    def differences(self, base: str, *form: str, name: str = ".") -> bytes:
        """From `base` to the working tree; Refused when the index would make git read, and show, what is outside it."""
        if STRAYING.search(b"\0" + self.ask("ls-files", "-z", cwd=self.top).out):
            raise Refused("the index of the repository names a path that is not in its working tree")
        return self.ask("diff", *PLAIN_DIFF, *form, base, "--", name).out


class LocalGit:
    """The port Git by the git program; `env` is the user's environment, `user` who runs it."""

    def __init__(self, env: Mapping[str, str], *, limits: Limits | None = None, user: int | None = None) -> None:
        self._env = env
        self._git = GitProgram(env, limits or Limits())
        self._user = os.geteuid() if user is None else user

    def diff(self, folder: str, rev: str | None) -> bytes:
        """As in the port."""
        with self._view(folder) as view:
            base = view.newest() or view.empty_tree if rev is None else view.commit(rev)
            return view.differences(base, *PREFIXES)

    def compare(self, folder: str, name: str, base: str, head: str | None) -> bytes:
        """As in the port."""
        form = ("--no-renames", *PREFIXES)
        with self._view(folder) as view:
            unborn = base == "HEAD" and view.newest() is None
            start = view.empty_tree if unborn else view.commit(base)
            if head is None:
                return view.differences(start, *form, name=name)
            return view.ask("diff", *PLAIN_DIFF, *form, start, view.commit(head), "--", name).out

    def changed(self, folder: str, rev: str) -> tuple[str, ...]:
        """As in the port."""
        with self._view(folder) as view:
            known = view.differences(view.commit(rev), "--name-only", "-z", "--no-renames", "--diff-filter=d")
            new = view.ask("ls-files", "--others", "--exclude-standard", "-z", "--", ".").out
        # A repository inside this one is listed as a folder, with a slash after it.
        names = {_name(part) for part in (known + new).split(b"\0") if part and not part.endswith(b"/")}
        return tuple(sorted(names))

    def log(self, folder: str, count: int) -> bytes:
        """As in the port."""
        if count < 1:
            raise BadInput(f"a log needs at least one commit, not {count}")
        with self._view(folder) as view:
            if view.newest() is None:
                return b""
            form = ("--name-status", COMMIT_FORM)
            return view.ask("log", "-n", str(count), *PLAIN_DIFF, *PLAIN_LOG, *form, "--", ".").out

    def recency(self, folder: str) -> Mapping[str, int]:
        """As in the port: a hint, so whatever stands in the way means that there is none."""
        form = ("--raw", "-z", "--no-renames", "--format=%x01")
        try:
            with self._view(folder) as view:
                return _ages(view.ask("log", "-n", str(RECENT), *PLAIN_DIFF, *PLAIN_LOG, *form).out)
        except MaridError:
            return {}

    @contextlib.contextmanager
    def _view(self, folder: str) -> Generator[View]:
        repository = repositories.find(folder)
        self._check_owner(repository)
        with repositories.neutral(repository) as path:
            settings = self._settings(repository)
            repositories.check_pointer(repository, settings)
            repositories.configure(path, settings)
            yield View(
                git=self._git,
                path=path,
                top=repository.top,
                folder=os.path.realpath(folder),
                ignores=self._ignores(settings),
                empty_tree=EMPTY_TREES.get(settings.get("extensions.objectformat", "sha1"), ""),
            )

    def _check_owner(self, repository: Repository) -> None:
        """Leave it to git, which knows the user's `safe.directory`, whether someone else's repository is trusted."""
        if repository.owners() <= {self._user}:
            return
        outcome = self._git.for_user("rev-parse", "--git-dir", cwd=repository.top)
        if outcome.status:
            raise Refused(f"git does not trust {repository.top}: {outcome.complaint()}")

    def _settings(self, repository: Repository) -> Mapping[str, str]:
        """What the repository says, else what the user says; only the user names an ignore file."""
        own = os.path.join(repository.shared, "config")
        if not repositories.is_plain(own):
            return self._user_settings
        return self._user_settings | self._config(REPOSITORY_SETTINGS, "--file", own, "--no-includes")

    @cached_property
    def _user_settings(self) -> dict[str, str]:
        return self._config(USER_SETTINGS)

    def _config(self, pattern: str, *source: str) -> dict[str, str]:
        """The settings that match, of the source or else of the user; a name without a value means true."""
        question = ("config", *source, "-z", "--get-regexp", pattern)
        outcome = answered(self._git.for_user(*question, cwd=os.sep, extra={"GIT_DIR": os.devnull}), "git config")
        parts = (os.fsdecode(part).partition("\n") for part in outcome.out.split(b"\0") if part)
        return {name: value if mark else "true" for name, mark, value in parts}

    def _ignores(self, settings: Mapping[str, str]) -> str:
        """The user's own ignore file, which git does not find while it has no home."""
        home = self._env.get("HOME", "")
        named = settings.get("core.excludesfile")
        if named is None:
            named = os.path.join(self._env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git", "ignore")
        elif named.startswith("~/"):
            named = home + named[1:]
        return named if os.path.isabs(named) else os.devnull


def _ages(listed: bytes) -> dict[str, int]:
    """From `git log --raw -z`: a mark per commit, and for each of its files a part with a colon, then the name."""
    ages: dict[str, int] = {}
    age = -1
    parts = iter(listed.split(b"\0"))
    for part in parts:
        if part.lstrip(b"\n").startswith(b":"):
            ages.setdefault(_name(next(parts)), age)
        elif part:
            age += 1
    return ages


def _name(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
