"""Shallow copies of remote repositories in the cache, made whole or not at all."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Generator, Mapping

from marid.adapters.git.git_program import GitProgram
from marid.adapters.process.programs import ProgramLimits, ProgramResult
from marid.core.errors import MaridError, NotFound, Unavailable
from marid.text.git import revisions
from marid.workspace.write.private_folders import make_private_folder

PARTIAL_PREFIX = ".unfinished-"
STALE_AFTER = 86_400.0
TRANSPORTS = "file:git:http:https:ssh"
LOW_SPEED_OPTIONS = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30")
SHALLOW = ("--depth=1", "--no-tags", "--no-recurse-submodules", "--force", "--quiet")


class CachedClones:
    """The port Clones in a folder `clones` of the cache; `on_note` is told when a copy could not be made newer."""

    def __init__(
        self,
        cache: str,
        env: Mapping[str, str],
        *,
        on_note: Callable[[str], None],
        limits: ProgramLimits | None = None,
    ) -> None:
        self._folder = os.path.join(cache, "clones")
        self._on_note = on_note
        self._git = GitProgram(env, limits or ProgramLimits(timeout=300.0))

    def clone(self, url: str, branch: str | None) -> str:
        """As in the port; whoever clones the same at the same time gets the same folder."""
        revisions.check_clone_url(url)
        wanted = "HEAD" if branch is None else revisions.check_branch(branch)
        key = hashlib.sha256(f"{url}\n{branch or ''}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
        home = os.path.join(self._folder, key)
        folder = os.path.join(home, revisions.clone_folder_name(url))
        try:
            # Looked at in this order, since a copy appears whole: one without a HEAD was damaged later.
            there = os.path.isdir(folder)
            if there and os.path.isfile(os.path.join(folder, ".git", "HEAD")):
                self._refresh(folder, url, wanted)
            else:
                self._create(home, url, wanted, replace_existing=there)
        except OSError as cause:
            raise Unavailable(f"no clone can be kept in {self._folder}: {cause.strerror}") from cause
        return folder

    def _create(self, home: str, url: str, wanted: str, *, replace_existing: bool) -> None:
        """Everything in a folder of another name, which takes its place in one step when it is whole."""
        make_private_folder(self._folder)
        self._remove_stale()
        unfinished = tempfile.mkdtemp(prefix=PARTIAL_PREFIX, dir=self._folder)
        try:
            folder = os.path.join(unfinished, revisions.clone_folder_name(url))
            self._run_isolated("init", "--quiet", "--template=", folder, cwd=unfinished)
            self._fetch(folder, url, wanted)
            if replace_existing:
                shutil.rmtree(home, ignore_errors=True)
            _publish(unfinished, home)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)

    def _refresh(self, folder: str, url: str, wanted: str) -> None:
        with _lock_folder(os.path.dirname(folder)):
            # Nobody else is at work here, so a lock of git's own was left by a run that was killed.
            for name in ("index.lock", "shallow.lock"):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(folder, ".git", name))
            try:
                self._fetch(folder, url, wanted)
            except (NotFound, Unavailable) as why:
                self._on_note(f"{why}; the copy in the cache is used")

    def _fetch(self, folder: str, url: str, wanted: str) -> None:
        """Fetch, the one step that needs the user's keys and the network, and check out what came."""
        # Named, since git would otherwise look further up for a repository, and reset that one.
        places = {"GIT_DIR": os.path.join(folder, ".git"), "GIT_WORK_TREE": folder}
        transports = places | {"GIT_ALLOW_PROTOCOL": TRANSPORTS}
        outcome = self._git.run_with_user_config(
            *LOW_SPEED_OPTIONS, "fetch", *SHALLOW, url, wanted, cwd=folder, extra=transports
        )
        if outcome.status:
            raise _fetch_error(outcome, url, wanted)
        self._run_isolated("reset", "--hard", "--quiet", "FETCH_HEAD", cwd=folder, extra=places)

    def _run_isolated(self, *args: str, cwd: str, extra: Mapping[str, str] | None = None) -> None:
        """Without the user's configuration: a filter in it would run on what came from elsewhere."""
        outcome = self._git.run_isolated(*args, cwd=cwd, extra=extra)
        if outcome.status:
            raise Unavailable(f"git {args[0]} failed: {outcome.error_line()}")

    def _remove_stale(self) -> None:
        """Remove what runs that were killed have left, once nobody can be at work on it any more."""
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name.startswith(PARTIAL_PREFIX) and time.time() - entry.stat().st_mtime > STALE_AFTER:
                    shutil.rmtree(entry.path, ignore_errors=True)


@contextlib.contextmanager
def _lock_folder(folder: str) -> Generator[None]:
    """One process at a time; the hold ends with the process, however that ends."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _publish(unfinished: str, home: str) -> None:
    names = os.listdir(unfinished)
    try:
        os.rename(unfinished, home)
    except OSError:
        # A folder that is not empty is not replaced: then someone else was faster, and theirs is as good.
        if not all(os.path.isdir(os.path.join(home, name)) for name in names):
            raise


def _fetch_error(outcome: ProgramResult, url: str, wanted: str) -> MaridError:
    if b"couldn't find remote ref" in outcome.err and wanted != "HEAD":
        return NotFound(f"{revisions.public_url(url)} has no branch {revisions.quote_for_message(wanted)}")
    why = revisions.redact_url(outcome.error_line(), url)
    return Unavailable(f"{revisions.public_url(url)} cannot be fetched: {why}")
