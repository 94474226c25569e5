"""Commands confined by bubblewrap: they see the system's programs and the roots, and write only in the roots."""

import contextlib
import os
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from marid.adapters.sandbox import mounts, seccomp
from marid.adapters.sandbox.checkouts import find_nested_checkouts, linked_git_folders
from marid.adapters.sandbox.mounts import HostLayout, is_within
from marid.core.errors import Refused
from marid.ports.processes import ProcessCommand
from marid.workspace.guard.openat import PATH_ONLY, default_opener
from marid.workspace.quarantine import Quarantine

BUBBLEWRAP_PATHS = ("/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap", "/run/current-system/sw/bin/bwrap")
# These can run code when a user opens the folder: commands may not change them, and what they create is moved away.
PROTECTED = (".git", ".mcp.json", ".vscode")
CREDENTIALS = (".netrc", ".git-credentials", ".pypirc", ".npmrc", ".env")
# Commands may not change these if they exist.
READ_ONLY_NAMES = (".marid.toml", ".envrc", ".idea", ".gitmodules", ".ripgreprc", *CREDENTIALS)
# The same if the user's home is a root; its secrets are hidden too.
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
# The home that commands see is empty and read-only: files written there would be lost.
_REDIRECTED_VARIABLES = (("TMPDIR", "/tmp"), ("XDG_CACHE_HOME", "/tmp/cache"), ("npm_config_cache", "/tmp/npm"))  # noqa: S108


@dataclass(frozen=True, kw_only=True)
class LaunchSpec:
    """How to start a command. `fds` are for the child; bubblewrap reports on `status_fd`, our end of a pipe.

    Once the command has ended, `notes` say what it created and may not keep.
    """

    argv: tuple[str, ...]
    fds: tuple[int, ...] = ()
    status_fd: int | None = None
    notes: list[str] = field(default_factory=list[str])


class PinnedMounts:
    """Mounts by descriptor: given a path, bubblewrap would follow a link that another command has put there.

    That needs a bubblewrap with the fix of CVE-2024-42472; the probe of the sandbox fails with an older one.
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
        """Arguments that mount the absolute `path` in place; none if it does not exist or contains a link."""
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
    """`program` is bubblewrap, `env` the environment of commands, `state` our folder, which is hidden from them."""

    def __init__(
        self, program: str, *, env: Mapping[str, str], state: str, prefix: str = "", machine: str = os.uname().machine
    ) -> None:
        self._program = program
        self._filter = seccomp.filter_program(machine)
        self._path = env.get("PATH", "")
        folders = tuple(part for part in self._path.split(os.pathsep) if part)
        home = os.path.realpath(env.get("HOME") or os.path.expanduser("~"))
        self.state = os.path.realpath(state)
        self._machine = HostLayout(home=home, state=self.state, folders=folders, prefix=prefix or sys.base_prefix)
        self._quarantine = Quarantine(self.state)

    def recover(self) -> list[str]:
        """Move away what killed commands have left. Returns notes for the person and the model."""
        return self._quarantine.recover()

    @contextlib.contextmanager
    def prepare(self, command: ProcessCommand) -> Generator[LaunchSpec]:
        """How to start a command confined. At the end, what it created under protected names is in quarantine.

        Raises: Refused if it cannot be confined, Unavailable if the absent names cannot be recorded.
        """
        roots = sorted({root for root in command.roots if os.path.realpath(root) == root}, key=len)
        with contextlib.ExitStack() as stack:
            guarded = list(self._protected_names(roots))
            record = stack.enter_context(self._quarantine.watch(guarded))
            pins = stack.enter_context(PinnedMounts())
            options = [*_ISOLATION_OPTIONS, *self._mount_args(roots, pins, network=command.network)]
            options += self._restriction_args(roots, guarded, pins)
            status, report = os.pipe()
            stack.callback(os.close, status)
            stack.callback(os.close, report)
            os.set_blocking(status, False)
            options += ("--chdir", os.path.realpath(command.cwd), "--json-status-fd", str(report))
            # The first process inside holds the record open, and so locked, even if this process is killed.
            options += ("--sync-fd", str(record.fd))
            fds = [report, record.fd, *pins.fds]
            if self._filter is not None:
                fds.append(os.memfd_create("filter"))
                stack.callback(os.close, fds[-1])
                os.pwrite(fds[-1], self._filter, 0)
                options += ("--seccomp", str(fds[-1]))
            argv = (self._program, *options, "--", *command.argv)
            yield LaunchSpec(argv=argv, fds=tuple(fds), status_fd=status, notes=record.notes)

    def _protected_names(self, roots: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Folders, and the names in them that may be neither changed nor created. Raises: Refused."""
        for root in roots:
            if any(is_within(place, root) for place in (*mounts.SYSTEM, "/etc")) or root == self._machine.state:
                raise Refused(f"a command cannot be confined to {root}")
            if os.path.isdir(root):
                yield root, PROTECTED
        if any(is_within(self._machine.home, root) for root in roots):
            yield self._machine.home, PROTECTED_AT_HOME

    def _mount_args(self, roots: Sequence[str], pins: PinnedMounts, *, network: bool) -> list[str]:
        """The system, and the roots in it, outer ones first: they would hide the inner ones."""
        args = [] if network else ["--unshare-net"]
        args += [*mounts.system_args(network=network), "--dir", self._machine.home]
        for name, value in (*_REDIRECTED_VARIABLES, ("PATH", f"{self._path}:{self._machine.prefix}/bin")):
            args += ("--setenv", name, value)
        args += mounts.program_args(self._machine, roots)
        for folder, known in (found for root in roots for found in linked_git_folders(root)):
            if known and not any(is_within(folder, root) for root in roots):
                args += ("--ro-bind-try", folder, folder)
        for root in roots:
            # A root may be a file that does not exist yet. Roots inside a git directory are read-only.
            args += pins.mount(root, writable=".git" not in root.split("/"))
        for path in mounts.HIDDEN:
            args += () if path in roots else ("--remount-ro", path)
        return args

    def _restriction_args(
        self, roots: Sequence[str], guarded: Sequence[tuple[str, tuple[str, ...]]], pins: PinnedMounts
    ) -> list[str]:
        """What is in the roots but read-only or hidden."""
        kept: list[str] = []
        deep: list[str] = []
        for root in roots:
            inner = [path for path, _ in linked_git_folders(root) if any(is_within(path, other) for other in roots)]
            deep += [*inner, *find_nested_checkouts(root)]
            kept += [os.path.join(root, name) for name in READ_ONLY_NAMES]
        secrets = (*(os.path.join(self._machine.home, name) for name in SECRETS_AT_HOME), self._machine.state)
        hidden = [path for path in secrets if any(is_within(path, root) for root in roots) and os.path.exists(path)]
        # Before the others, which these mounts would hide.
        args = _pin_parents([*deep, *hidden], roots, pins)
        for folder, names in guarded:
            args += _read_only_args([os.path.join(folder, name) for name in names], pins, links=False)
        args += _read_only_args([*deep, *kept], pins, links=True)
        for path in hidden:
            args += ("--tmpfs", path) if os.path.isdir(path) else ("--ro-bind", os.devnull, path)
        return args


def _read_only_args(paths: Sequence[str], pins: PinnedMounts, *, links: bool) -> list[str]:
    """Mount what exists read-only; links are skipped, or refused without `links`."""
    args: list[str] = []
    for path in paths:
        args += pins.mount(path, writable=False)
        if not links and os.path.islink(path):
            raise Refused(f"'{os.path.basename(path)}' is a link, which cannot be protected, so no command runs here")
    return args


def _pin_parents(paths: Sequence[str], roots: Sequence[str], pins: PinnedMounts) -> list[str]:
    """Mount each folder between a root and the paths: a mount cannot be renamed."""
    between: set[str] = set()
    for path in paths:
        folder = os.path.dirname(path)
        while folder not in roots and any(is_within(folder, root) for root in roots):
            between.add(folder)
            folder = os.path.dirname(folder)
    return [word for folder in sorted(between, key=len) for word in pins.mount(folder, writable=True)]


def find_bubblewrap(candidates: Sequence[str] = BUBBLEWRAP_PATHS) -> str | None:
    """The path of bubblewrap. PATH is not searched: a folder of the project may be in it."""
    return next((place for place in candidates if os.access(place, os.X_OK)), None)
