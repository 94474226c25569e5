"""The audit log of one process: JSON lines in its own folder, with secrets masked."""

import atexit
import hashlib
import json
import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING
from weakref import ref

from marid.ports.audit import AuditRecord
from marid.workspace.plain_files import make_private_folder, write_all

if TYPE_CHECKING:
    from marid.text.secrets.masker import Redactor

CALLS = "toolcalls.log"
_MAX_ARGS_LENGTH = 4000
_SHORT_ARGS_LENGTH = 500
# The writer thread ends after this many ticks without a record.
_MAX_IDLE_TICKS = 40


class SessionLog:
    """The port AuditLog, in `<home>/logs/sessions/<start>_<label>/`, created with the first record, mode 0600. A thread
    writes records that need not be durable within `write_delay` seconds; the rest is written when the program ends.
    """

    def __init__(
        self,
        home: str,
        label: str,
        *,
        secrets: Sequence[str] = (),
        clock: Callable[[], float] = time.time,
        write_delay: float = 0.05,
    ) -> None:
        start = time.strftime("%Y%m%d_%H%M%S", time.gmtime(clock()))
        self._stem = os.path.join(home, "logs", "sessions", f"{start}_{_safe_label(label)}")
        self._lock = Lock()
        self._folder: str | None = None
        self._calls = -1
        self._scripts = 0
        self._problem_reported = False
        self._secrets = secrets
        self._redactor: Redactor | None = None
        self._write_delay = write_delay
        self._pending: deque[AuditRecord] = deque()
        self._writer: Thread | None = None
        self._problem: str | None = None
        atexit.register(_flush_at_exit, ref(self))

    def hide(self, secrets: Sequence[str]) -> None:
        """Mask these too from now on, wherever they stand in a record."""
        if new := [secret for secret in secrets if secret not in self._secrets]:
            with self._lock:
                self._secrets, self._redactor = (*self._secrets, *new), None

    def record(self, record: AuditRecord) -> str | None:
        """A problem of the writer thread is returned with a later record."""
        self._pending.append(record)
        if record.durable or not self._write_delay:
            self.flush(durable=record.durable)
        elif self._writer is None:
            self._writer = Thread(target=self._run_writer, daemon=True, name="marid log")
            self._writer.start()
        problem, self._problem = self._problem, None
        return problem

    def flush(self, *, durable: bool = False) -> None:
        """Write the pending records."""
        with self._lock:
            # Records may be added meanwhile.
            lines = [self._line(self._pending.popleft()) for _ in range(len(self._pending))]
            try:
                if lines:
                    if self._calls < 0:
                        path = os.path.join(self._ensure_folder(), CALLS)
                        self._calls = _open_private(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                    write_all(self._calls, lines)
                if durable:
                    os.fdatasync(self._calls)
            except OSError as error:
                if not self._problem_reported:
                    self._problem = f"the session log is not kept: {error.strerror}"
                self._problem_reported = True

    def _run_writer(self) -> None:
        idle = 0
        while idle < _MAX_IDLE_TICKS:
            time.sleep(self._write_delay)
            idle = 0 if self._pending else idle + 1
            if idle == _MAX_IDLE_TICKS:
                self._writer = None
            self.flush()

    def save_script(self, text: str, suffix: str) -> str | None:
        with self._lock:
            try:
                path = os.path.join(self._ensure_folder(), f"{self._scripts + 1:04}{suffix}")
                with open(path, "xb", opener=_open_private) as file:
                    file.write(self._redact(text.encode("utf-8", "backslashreplace")))
            except OSError:
                return None
            self._scripts += 1
            return path

    def close(self) -> None:
        """Write the pending records and close the file; a later record opens it again."""
        self.flush()
        with self._lock:
            if self._calls >= 0:
                os.close(self._calls)
                self._calls = -1

    def _ensure_folder(self) -> str:
        """Create the folder, with a number if another process has the same start and label."""
        if self._folder is not None:
            return self._folder
        make_private_folder(os.path.dirname(self._stem))
        for number in range(1, 1000):
            folder = self._stem if number == 1 else f"{self._stem}_{number}"
            with suppress(FileExistsError):
                os.mkdir(folder, mode=0o700)
                self._folder = folder
                return folder
        raise FileExistsError(17, "too many logs were started in this second")

    def _line(self, record: AuditRecord) -> bytes:
        args, digest = _loggable_args(record.args)
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.time))
        whole: dict[str, object] = record._asdict()
        del whole["args"], whole["trace"], whole["durable"]
        whole |= {
            "time": f"{stamp}.{int(record.time % 1 * 1000):03}Z",
            "caller": {name: value for name, value in record.caller._asdict().items() if value},
            "tool": record.tool[:100],
            "message": record.message[:_MAX_ARGS_LENGTH],
            "seconds": round(record.seconds, 6),
            "digest": digest,
            "args": args,
        }
        if record.trace:
            whole["trace"] = record.trace
        plain = json.dumps(whole).encode()
        line = self._redact(plain)
        with suppress(ValueError):
            if line != plain:
                json.loads(line)
            return line + b"\n"
        # A secret that seemed to extend beyond its quotes: better no arguments than a broken line.
        return json.dumps({**whole, "message": "[masked]", "args": "[masked]", "trace": ""}).encode() + b"\n"

    def _redact(self, data: bytes) -> bytes:
        if self._redactor is None:
            from marid.text.secrets.masker import Redactor

            self._redactor = Redactor(*self._secrets)
        return self._redactor.redact_bytes(data, "call.json")


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _flush_at_exit(log: "ref[SessionLog]") -> None:
    if (alive := log()) is not None:
        alive.flush()


def _loggable_args(given: Mapping[str, object]) -> tuple[Mapping[str, object], str]:
    """The arguments with long texts cut, and a digest of all of them unless they are short."""
    length = sum(len(value) if isinstance(value, str) else 20 for value in given.values())
    if _has_only_scalars(given) and length < _SHORT_ARGS_LENGTH:
        return given, ""  # the record has all of them, so a digest adds nothing
    try:
        whole = json.dumps(given, sort_keys=True, default=repr)
    except (TypeError, ValueError, RecursionError) as error:
        return {"unreadable": str(error)[:100]}, ""
    digest = hashlib.sha256(whole.encode()).hexdigest()
    if len(whole) <= _MAX_ARGS_LENGTH:
        return given if _has_only_scalars(given) else json.loads(whole), digest
    share = _MAX_ARGS_LENGTH // max(1, len(given))
    return {str(name)[:100]: _shorten(value, share) for name, value in list(given.items())[:100]}, digest


def _has_only_scalars(given: Mapping[str, object]) -> bool:
    return all(isinstance(value, str | int | float | None) for value in given.values())


def _shorten(value: object, most: int) -> object:
    if isinstance(value, int | float | None):
        return value
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def _safe_label(label: str) -> str:
    return "".join(char if char.isascii() and (char.isalnum() or char in "-.") else "-" for char in label)[:40] or "run"
