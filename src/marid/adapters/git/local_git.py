"""Git state of a folder, read through a neutral view so that a hostile repository cannot make git run anything."""

import contextlib
import os
import re
import tempfile
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from marid.adapters.git import repositories
from marid.adapters.git.git_program import GitProgram, check_status
from marid.adapters.git.repositories import GitRepository
from marid.adapters.git.worktree_files import IndexEntry, WorktreeFiles, parse_index
from marid.adapters.process.programs import ProgramLimits, ProgramResult
from marid.core.errors import BadInput, MaridError, Refused
from marid.text import git_text

RECENT_COMMITS = 300
DIFF_OPTIONS = ("--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--relative")
PREFIXES = ("--src-prefix=a/", "--dst-prefix=b/")
LOG_OPTIONS = ("--no-show-signature", "--no-decorate", "--no-mailmap", "--no-notes")
COMMIT_FORMAT = "--pretty=format:commit %H%nAuthor: %an%nDate:   %aI%n%n    %s%n"
USER_SETTINGS = r"^core\.(autocrlf|eol|excludesfile)$"
REPOSITORY_SETTINGS = "^(" + "|".join((*repositories.COPIED_SETTINGS, "core.worktree")).replace(".", r"\.") + ")$"
ESCAPING_PATH = re.compile(r"/(?:\.\.?|\.git)?/", re.IGNORECASE)
EMPTY_TREES = {
    "sha1": "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


@dataclass(frozen=True, kw_only=True)
class RepositoryView:
    """A folder of a repository, to run git commands on."""

    git: GitProgram
    git_dir: str
    work_tree: str
    folder: str
    ignore_file: str
    empty_tree: str
    settings: Mapping[str, str]

    def run(self, *args: str, stdin: int | None = None) -> ProgramResult:
        """Run a git command over an empty working tree. Raises: Unavailable when it fails."""
        tree = os.path.join(self.git_dir, "tree")
        folder = os.path.join(tree, self.prefix)
        os.makedirs(folder, exist_ok=True)
        return self._run(args, tree, folder, stdin)

    def list_untracked(self) -> bytes:
        """The names of new files. Git looks at the working tree itself, but no content of it is in the answer."""
        args = ("ls-files", "--others", "--exclude-standard", "-z", "--", ".")
        return self._run(args, self.work_tree, self.folder).out

    @property
    def prefix(self) -> str:
        """What the names in the index begin with; empty at the top."""
        below = os.path.relpath(self.folder, self.work_tree)
        return "" if below == "." else f"{below}/"

    def _run(self, args: tuple[str, ...], work_tree: str, cwd: str, stdin: int | None = None) -> ProgramResult:
        dirs = {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": work_tree}
        settings = ("-c", f"core.excludesFile={self.ignore_file}")
        result = self.git.run_isolated(*settings, *args, cwd=cwd, extra=dirs, stdin=stdin)
        err = result.err.replace(os.fsencode(self.git_dir), b".git")
        return check_status(replace(result, err=err), f"git {args[0]}")

    def resolve_commit(self, rev: str) -> str:
        """The hash of the commit that the revision names. Raises: BadInput when there is none."""
        commit = git_text.check_revision(rev) + "^{commit}"
        result = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", commit)
        if result.status:
            raise BadInput(f"no such revision: {git_text.quote_for_message(rev)}")
        return result.out.split()[-1].decode("ascii")

    def head_commit(self) -> str | None:
        """The hash of HEAD; None before the first commit."""
        result = self.run("rev-parse", "--verify", "--quiet", "HEAD")
        return None if result.status else result.out.decode("ascii").strip()

    def diff_worktree(self, base: str, *options: str, name: str = ".") -> bytes:
        """From `base` to the working tree. Raises: Refused if the index would make git read files outside of it."""
        listed = self.run("ls-files", "-z", "--full-name", "--stage", "--debug", "--", name).out
        entries = list(parse_index(listed))
        if any(ESCAPING_PATH.search(f"/{entry.name}/") for entry in entries):
            raise Refused("the index of the repository names a path that is not in its working tree")
        self._update_index(entries)
        return self.run("diff", "--cached", *DIFF_OPTIONS, *options, base, "--", name).out

    def _update_index(self, entries: Sequence[IndexEntry]) -> None:
        """Bring the view's index up to date with the files."""
        index = os.path.join(self.git_dir, "index")
        files = WorktreeFiles(
            folder=self.folder,
            prefix=self.prefix,
            objects=os.path.join(self.git_dir, "objects"),
            settings=self.settings,
            index_time=os.stat(index).st_mtime_ns if entries else 0,
            convert=self._store_converted,
        )
        self._run_with_input(files.index_updates(entries), "update-index", "-z", "--index-info")

    def _run_with_input(self, data: bytes, *args: str) -> None:
        tree = os.path.join(self.git_dir, "tree")
        with tempfile.TemporaryFile() as given:
            given.write(data)
            given.seek(0)
            self._run(args, tree, tree, given.fileno())

    def _check_out_attributes(self) -> None:
        """Write the files with attributes into the empty working tree, once: git converts by those only."""
        tree, mark = os.path.join(self.git_dir, "tree"), os.path.join(self.git_dir, "attributes-checked-out")
        if os.path.exists(mark):
            return
        os.close(os.open(mark, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        listed = self._run(("ls-files", "-z"), tree, tree).out.split(b"\0")
        names = [name for name in listed if name.rpartition(b"/")[2] == b".gitattributes"]
        self._run_with_input(b"".join(name + b"\0" for name in names), "checkout-index", "-q", "-f", "-z", "--stdin")

    def _store_converted(self, fd: int, name: str) -> str:
        """Store a file as git converts it, by the attributes in the index."""
        self._check_out_attributes()
        return self.run("hash-object", "-w", "--stdin", f"--path={name}", stdin=fd).out.decode("ascii").strip()


class LocalGit:
    """Runs the git program; `env` is the user's environment, `user` the id that must own a repository.

    No program below `roots` is run.
    """

    def __init__(
        self,
        env: Mapping[str, str],
        *,
        roots: Sequence[str] = (),
        limits: ProgramLimits | None = None,
        user: int | None = None,
    ) -> None:
        self._env = env
        self._git = GitProgram(env, limits or ProgramLimits(), roots)
        self._user = os.geteuid() if user is None else user

    def diff(self, folder: str, rev: str | None) -> bytes:
        with self._open_view(folder) as view:
            base = view.head_commit() or view.empty_tree if rev is None else view.resolve_commit(rev)
            return view.diff_worktree(base, *PREFIXES)

    def compare(self, folder: str, name: str, base: str, head: str | None) -> bytes:
        options = ("--no-renames", *PREFIXES)
        with self._open_view(folder) as view:
            unborn = base == "HEAD" and view.head_commit() is None
            start = view.empty_tree if unborn else view.resolve_commit(base)
            if head is None:
                return view.diff_worktree(start, *options, name=name)
            return view.run("diff", *DIFF_OPTIONS, *options, start, view.resolve_commit(head), "--", name).out

    def changed_files(self, folder: str, rev: str) -> tuple[str, ...]:
        with self._open_view(folder) as view:
            known = view.diff_worktree(view.resolve_commit(rev), "--name-only", "-z", "--no-renames", "--diff-filter=d")
            new = view.list_untracked()
        # A nested repository is listed as a folder, with a slash after it.
        names = {_decode_path(part) for part in (known + new).split(b"\0") if part and not part.endswith(b"/")}
        return tuple(sorted(names))

    def log(self, folder: str, count: int) -> bytes:
        if count < 1:
            raise BadInput(f"a log needs at least one commit, not {count}")
        with self._open_view(folder) as view:
            if view.head_commit() is None:
                return b""
            options = (*DIFF_OPTIONS, *LOG_OPTIONS, "--name-status", COMMIT_FORMAT)
            return view.run("log", "-n", str(count), *options, "--", ".").out

    def recency(self, folder: str) -> Mapping[str, int]:
        """This is a hint: any error means an empty answer."""
        options = (*DIFF_OPTIONS, *LOG_OPTIONS, "--raw", "-z", "--no-renames", "--format=%x01")
        try:
            with self._open_view(folder) as view:
                return _parse_ages(view.run("log", "-n", str(RECENT_COMMITS), *options).out)
        except MaridError:
            return {}

    @contextlib.contextmanager
    def _open_view(self, folder: str) -> Generator[RepositoryView]:
        repository = repositories.find_repository(folder)
        if not repository.owners() <= {self._user}:
            # Git decides, by the user's `safe.directory`, whether to trust another user's repository.
            result = self._git.run_with_user_config("rev-parse", "--git-dir", cwd=repository.work_tree)
            if result.status:
                raise Refused(f"git does not trust {repository.work_tree}: {result.error_line()}")
        with repositories.open_neutral_view(repository) as path:
            settings = self._settings(repository)
            repositories.check_pointer(repository, settings)
            repositories.write_config(path, settings)
            yield RepositoryView(
                git=self._git,
                git_dir=path,
                work_tree=repository.work_tree,
                folder=os.path.realpath(folder),
                ignore_file=self._ignore_file(settings),
                settings=settings,
                empty_tree=EMPTY_TREES.get(settings.get("extensions.objectformat", "sha1"), ""),
            )

    def _settings(self, repository: GitRepository) -> Mapping[str, str]:
        """The repository's settings over the user's; only the user may name an ignore file."""
        config = os.path.join(repository.common_dir, "config")
        if not repositories.is_regular_file(config):
            return self._user_settings
        return self._user_settings | self._config(REPOSITORY_SETTINGS, "--file", config, "--no-includes")

    @cached_property
    def _user_settings(self) -> dict[str, str]:
        return self._config(USER_SETTINGS)

    def _config(self, pattern: str, *source: str) -> dict[str, str]:
        """The matching settings of the source, or of the user; a name without a value means true."""
        command = ("config", *source, "-z", "--get-regexp", pattern)
        result = self._git.run_with_user_config(*command, cwd=os.sep, extra={"GIT_DIR": os.devnull})
        entries = check_status(result, "git config").out.split(b"\0")
        parts = (os.fsdecode(entry).partition("\n") for entry in entries if entry)
        return {name: value if mark else "true" for name, mark, value in parts}

    def _ignore_file(self, settings: Mapping[str, str]) -> str:
        """The user's ignore file, which git does not find without a home."""
        home = self._env.get("HOME", "")
        path = settings.get("core.excludesfile")
        if path is None:
            path = os.path.join(self._env.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git", "ignore")
        elif path.startswith("~/"):
            path = home + path[1:]
        return path if os.path.isabs(path) else os.devnull


def _parse_ages(log: bytes) -> dict[str, int]:
    """Parse `git log --raw -z`: a mark per commit, and for each of its files a part with a colon, then the name."""
    ages: dict[str, int] = {}
    age = -1
    parts = iter(log.split(b"\0"))
    for part in parts:
        if part.lstrip(b"\n").startswith(b":"):
            ages.setdefault(_decode_path(next(parts)), age)
        elif part:
            age += 1
    return ages


def _decode_path(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
