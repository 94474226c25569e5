"""Shallow clones of remote repositories in the cache; a clone appears complete or not at all."""

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence

from marid.adapters.git.git_program import GitProgram
from marid.adapters.process.programs import ProgramLimits, ProgramResult
from marid.core.errors import MaridError, NotFound, Unavailable
from marid.text import git_text
from marid.workspace.plain_files import lock_folder, make_private_folder

PARTIAL_PREFIX = ".unfinished-"
STALE_AFTER = 86_400.0
TRANSPORTS = "file:git:http:https:ssh"
LOW_SPEED_OPTIONS = ("-c", "http.lowSpeedLimit=1000", "-c", "http.lowSpeedTime=30")
SHALLOW = ("--depth=1", "--no-tags", "--no-recurse-submodules", "--force", "--quiet")


class CachedClones:
    """Keeps clones in the folder `clones` of the cache; calls `on_note` when a clone cannot be refreshed.

    No program below `roots` is run.
    """

    def __init__(
        self,
        cache: str,
        env: Mapping[str, str],
        on_note: Callable[[str], None],
        *,
        roots: Sequence[str] = (),
        limits: ProgramLimits | None = None,
    ) -> None:
        self._folder = os.path.join(cache, "clones")
        self._on_note = on_note
        self._git = GitProgram(env, limits or ProgramLimits(timeout=300.0), roots)

    def clone(self, url: str, branch: str | None) -> str:
        """Concurrent clones of the same repository share a folder."""
        git_text.check_clone_url(url)
        wanted = "HEAD" if branch is None else git_text.check_branch(branch)
        key = hashlib.sha256(f"{url}\n{branch or ''}".encode("utf-8", "surrogateescape")).hexdigest()[:16]
        home = os.path.join(self._folder, key)
        folder = os.path.join(home, git_text.clone_folder_name(url))
        try:
            # In this order, since a clone appears complete: one without a HEAD was damaged later.
            exists = os.path.isdir(folder)
            if exists and os.path.isfile(os.path.join(folder, ".git", "HEAD")):
                self._refresh(folder, url, wanted)
            else:
                self._create(home, url, wanted, replace_existing=exists)
        except OSError as cause:
            raise Unavailable(f"no clone can be kept in {self._folder}: {cause.strerror}") from cause
        return folder

    def _create(self, home: str, url: str, wanted: str, *, replace_existing: bool) -> None:
        """Clone into a temporary folder and rename it when it is complete."""
        make_private_folder(self._folder)
        self._remove_stale()
        partial = tempfile.mkdtemp(prefix=PARTIAL_PREFIX, dir=self._folder)
        try:
            folder = os.path.join(partial, git_text.clone_folder_name(url))
            self._run_isolated("init", "--quiet", "--template=", folder, cwd=partial)
            self._fetch(folder, url, wanted)
            if replace_existing:
                shutil.rmtree(home, ignore_errors=True)
            _publish(partial, home)
        finally:
            shutil.rmtree(partial, ignore_errors=True)

    def _refresh(self, folder: str, url: str, wanted: str) -> None:
        with lock_folder(os.path.dirname(folder)) as locked:
            # While we hold the lock, a lock file of git was left by a killed process.
            for name in ("index.lock", "shallow.lock") if locked else ():
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(folder, ".git", name))
            try:
                self._fetch(folder, url, wanted)
            except (NotFound, Unavailable) as why:
                self._on_note(f"{why}; the copy in the cache is used")

    def _fetch(self, folder: str, url: str, wanted: str) -> None:
        """Fetch and check out. Only the fetch needs the user's keys and the network."""
        # Explicit, or git would search the parent folders for a repository and reset that one.
        dirs = {"GIT_DIR": os.path.join(folder, ".git"), "GIT_WORK_TREE": folder}
        env = dirs | {"GIT_ALLOW_PROTOCOL": TRANSPORTS}
        command = (*LOW_SPEED_OPTIONS, "fetch", *SHALLOW, url, wanted)
        result = self._git.run_with_user_config(*command, cwd=folder, extra=env)
        if result.status:
            raise _fetch_error(result, url, wanted)
        self._run_isolated("reset", "--hard", "--quiet", "FETCH_HEAD", cwd=folder, extra=dirs)

    def _run_isolated(self, *args: str, cwd: str, extra: Mapping[str, str] | None = None) -> None:
        """Run git without the user's configuration: a filter in it would run on foreign content."""
        result = self._git.run_isolated(*args, cwd=cwd, extra=extra)
        if result.status:
            raise Unavailable(f"git {args[0]} failed: {result.error_line()}")

    def _remove_stale(self) -> None:
        """Remove what killed processes have left, once it is too old to be in use."""
        with os.scandir(self._folder) as entries:
            for entry in entries:
                if entry.name.startswith(PARTIAL_PREFIX) and time.time() - entry.stat().st_mtime > STALE_AFTER:
                    shutil.rmtree(entry.path, ignore_errors=True)


def _publish(partial: str, home: str) -> None:
    names = os.listdir(partial)
    try:
        os.rename(partial, home)
    except OSError:
        # A folder that is not empty is not replaced: then another process was faster, and its clone is as good.
        if not all(os.path.isdir(os.path.join(home, name)) for name in names):
            raise


def _fetch_error(result: ProgramResult, url: str, wanted: str) -> MaridError:
    shown = git_text.public_url(url)
    if b"couldn't find remote ref" in result.err and wanted != "HEAD":
        return NotFound(f"{shown} has no branch {git_text.quote_for_message(wanted)}")
    return Unavailable(f"{shown} cannot be fetched: {git_text.redact_url(result.error_line(), url)}")
