"""Commands confined by bubblewrap: they see the machine's programs and the roots, and may write in the roots only."""

import contextlib
import os
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

from marid.adapters.sandbox import mounts, seccomp
from marid.adapters.sandbox.checkouts import find_nested_checkouts, linked_git_folders
from marid.adapters.sandbox.mounts import HostLayout, is_within
from marid.adapters.sandbox.placeholders import Placeholders
from marid.core.errors import Refused
from marid.ports.processes import ProcessCommand
from marid.workspace.guard.openat import PATH_ONLY, default_opener

BUBBLEWRAP_PATHS = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap")
# What runs by itself when somebody opens the folder: it may neither change nor come to be.
PROTECTED = (".git", ".mcp.json", ".vscode")
# What may not change where it is.
CREDENTIALS = (".netrc", ".git-credentials", ".pypirc", ".npmrc", ".env")
READ_ONLY_NAMES = (".marid.toml", ".envrc", ".idea", ".gitmodules", ".ripgreprc", *CREDENTIALS)
# The same for a home, when somebody makes that a root; its secrets are not seen either.
PROTECTED_AT_HOME = (".bashrc", ".bash_profile", ".bash_login", ".profile", ".zshrc", ".zshenv", ".gitconfig")
SECRETS_AT_HOME = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".mozilla", ".config/gcloud"),
    *(".config/gh", ".config/google-chrome", ".config/chromium", ".local/share/keyrings", ".cargo/credentials.toml"),
    *CREDENTIALS,
)
_ISOLATION_OPTIONS = (
    *("--unshare-user", "--disable-userns", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL", "--new-session", "--die-with-parent"),
)
# The home that they know is empty and cannot be written, rather than take what would be lost.
_REDIRECTED_VARIABLES = (("TMPDIR", "/tmp"), ("XDG_CACHE_HOME", "/tmp/cache"), ("npm_config_cache", "/tmp/npm"))  # noqa: S108


@dataclass(frozen=True, kw_only=True)
class LaunchSpec:
    """How a command is started: `fds` are for the child; on `status`, our end of a pipe, bubblewrap reports."""

    argv: tuple[str, ...]
    fds: tuple[int, ...] = ()
    status_fd: int | None = None


class PinnedMounts:
    """What is mounted, held open: bubblewrap follows a link that another command puts in the place of a name.

    For descriptors it needs the mending of CVE-2024-42472; one without is found out by the first try, and not used.
    """

    def __init__(self) -> None:
        self.fds: list[int] = []
        self._mounted: set[tuple[str, bool]] = set()
        self._top = os.open("/", PATH_ONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def __enter__(self) -> "PinnedMounts":
        return self

    def __exit__(self, *_: object) -> None:
        for fd in (self._top, *self.fds):
            os.close(fd)

    def mount(self, path: str, *, writable: bool) -> tuple[str, ...]:
        """Arguments that mount the absolute `path` where it is; none if nothing is there, or by way of a link."""
        if (path, writable) in self._mounted:
            return ()
        try:
            fd = default_opener()(self._top, path.lstrip("/"), PATH_ONLY)
        except OSError:
            return ()
        self.fds.append(fd)
        self._mounted.add((path, writable))
        return ("--bind-fd" if writable else "--ro-bind-fd", str(fd), path)


class Sandbox:
    """`program` is bubblewrap, `env` the environment of commands, `state` a folder of ours, hidden from them."""

    def __init__(
        self,
        program: str,
        *,
        env: Mapping[str, str],
        state: str,
        prefix: str = sys.base_prefix,
        machine: str = os.uname().machine,
    ) -> None:
        self._program = program
        self._filter = seccomp.filter_program(machine)
        self._path = env.get("PATH", "")
        folders = tuple(part for part in self._path.split(os.pathsep) if part)
        home = os.path.realpath(env.get("HOME") or os.path.expanduser("~"))
        self.state = os.path.realpath(state)
        self._machine = HostLayout(home=home, state=self.state, folders=folders, prefix=prefix)
        self._placeholders = Placeholders(os.path.join(state, "sandbox"))

    def remove_stale(self) -> None:
        """Take away what a killed run has left in a project."""
        self._placeholders.remove_stale()

    @contextlib.contextmanager
    def prepare(self, command: ProcessCommand) -> Generator[LaunchSpec]:
        """How to start a command confined; while this lasts, what it may not make in its roots is held.

        Raises: Refused if it cannot be confined, Unavailable if no record of it can be kept.
        """
        roots = sorted({root for root in command.roots if os.path.realpath(root) == root}, key=len)
        with contextlib.ExitStack() as stack:
            guarded = list(self._protected_names(roots))
            for folder, names in guarded:
                stack.enter_context(self._placeholders.hold(folder, names))
            pins = stack.enter_context(PinnedMounts())
            args = [
                *self._mount_args(roots, pins, network=command.network),
                *self._restriction_args(roots, guarded, pins),
            ]
            filter_ = stack.enter_context(_memory(self._filter))
            status, report = stack.enter_context(_pipe())
            options = [
                *_ISOLATION_OPTIONS,
                *args,
                "--chdir",
                os.path.realpath(command.cwd),
                "--json-status-fd",
                str(report),
            ]
            fds = (report, *pins.fds) if filter_ is None else (report, filter_, *pins.fds)
            options += () if filter_ is None else ("--seccomp", str(filter_))
            yield LaunchSpec(argv=(self._program, *options, "--", *command.argv), fds=fds, status_fd=status)

    def _protected_names(self, roots: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Folders, and the names in them that may neither change nor come to be. Raises: Refused."""
        for root in roots:
            if any(is_within(place, root) for place in (*mounts.SYSTEM, "/etc")) or root == self._machine.state:
                raise Refused(f"a command cannot be confined to {root}")
            if os.path.isdir(root):
                yield root, PROTECTED
        if any(is_within(self._machine.home, root) for root in roots):
            yield self._machine.home, PROTECTED_AT_HOME

    def _mount_args(self, roots: Sequence[str], pins: PinnedMounts, *, network: bool) -> list[str]:
        """The machine, and the roots in it: outer ones first, or they would hide the inner."""
        args = [] if network else ["--unshare-net"]
        args += [*mounts.system_args(network=network), "--dir", self._machine.home]
        for name, value in (*_REDIRECTED_VARIABLES, ("PATH", f"{self._path}:{self._machine.prefix}/bin")):
            args += ("--setenv", name, value)
        args += mounts.program_args(self._machine, roots)
        for folder, known in (found for root in roots for found in linked_git_folders(root)):
            if known and not any(is_within(folder, root) for root in roots):
                args += ("--ro-bind-try", folder, folder)
        for root in roots:
            # A single file that may be written need not be there; what is in the git directory stays as it is.
            args += pins.mount(root, writable=".git" not in root.split("/"))
        for path in mounts.HIDDEN:
            args += () if path in roots else ("--remount-ro", path)
        return args

    def _restriction_args(
        self, roots: Sequence[str], guarded: Sequence[tuple[str, tuple[str, ...]]], pins: PinnedMounts
    ) -> list[str]:
        """What is in the roots and yet may not be written, or not even be seen."""
        kept: list[str] = []
        deep: list[str] = []
        for root in roots:
            inner = [path for path, _ in linked_git_folders(root) if any(is_within(path, other) for other in roots)]
            deep += [*inner, *find_nested_checkouts(root)]
            kept += [os.path.join(root, name) for name in READ_ONLY_NAMES]
        secrets = (*(os.path.join(self._machine.home, name) for name in SECRETS_AT_HOME), self._machine.state)
        hidden = [path for path in secrets if any(is_within(path, root) for root in roots) and os.path.exists(path)]
        # Before all others, which they would hide.
        args = _pin_parents([*deep, *hidden], roots, pins)
        for folder, names in guarded:
            args += _read_only_args([os.path.join(folder, name) for name in names], pins, links=False)
        args += _read_only_args([*deep, *kept], pins, links=True)
        for path in hidden:
            args += ("--tmpfs", path) if os.path.isdir(path) else ("--ro-bind", os.devnull, path)
        return args


def _read_only_args(paths: Sequence[str], pins: PinnedMounts, *, links: bool) -> list[str]:
    """What is there as it is, but not to be changed; links are passed over, or, without `links`, refused."""
    args: list[str] = []
    for path in paths:
        args += pins.mount(path, writable=False)
        if not links and os.path.islink(path):
            raise Refused(
                f"'{os.path.basename(path)}' is a link: it cannot be kept from being changed, so no command is run here"
            )
    return args


def _pin_parents(paths: Sequence[str], roots: Sequence[str], pins: PinnedMounts) -> list[str]:
    """The folders between a root and the paths, each a mount of its own: what is mounted cannot be moved away."""
    between: set[str] = set()
    for path in paths:
        folder = os.path.dirname(path)
        while folder not in roots and any(is_within(folder, root) for root in roots):
            between.add(folder)
            folder = os.path.dirname(folder)
    return [word for folder in sorted(between, key=len) for word in pins.mount(folder, writable=True)]


@contextlib.contextmanager
def _memory(data: bytes | None) -> Generator[int | None]:
    """A file that is nowhere, with `data` to be read from it."""
    if data is None:
        yield None
        return
    fd = os.memfd_create("filter")
    try:
        os.write(fd, data)
        os.lseek(fd, 0, os.SEEK_SET)
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def _pipe() -> Generator[tuple[int, int]]:
    read, write = os.pipe()
    os.set_blocking(read, False)
    try:
        yield read, write
    finally:
        os.close(read)
        os.close(write)


def find_bubblewrap(candidates: Sequence[str] = BUBBLEWRAP_PATHS) -> str | None:
    """Where bubblewrap is installed: never by PATH, which is the user's to fill, and a project's to be found in."""
    return next((place for place in candidates if os.access(place, os.X_OK)), None)
