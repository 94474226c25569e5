"""The options of a gateway: timeouts and retries, the log of requests, context windows that the user set."""

import json
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from random import random
from typing import Any, Literal, TypeAlias

import anyio

from marid.core.errors import Unavailable
from marid.toolkit.thread_pool import DaemonThreadPool

RecordKind: TypeAlias = Literal["request", "response"]
WireLog: TypeAlias = Callable[[RecordKind, Mapping[str, Any]], None]
"""Keeps a record, from which secrets are already removed. Raises: Unavailable."""

MAX_RETRIES = 3


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """Seconds. `idle_timeout` limits a silence within an answer, `total_timeout` the whole answer."""

    connect_timeout: float = 10.0
    idle_timeout: float = 120.0
    total_timeout: float = 3600.0
    first_wait: float = 0.5
    max_wait: float = 30.0
    max_retry_after: float = 60.0
    """A service that asks for a longer wait by Retry-After is not retried."""
    sleep: Callable[[float], Awaitable[None]] = anyio.sleep
    jitter: Callable[[], float] = random

    def delay(self, failures: int, retry_after: float | None) -> float:
        """How long to wait after this many failures; `retry_after` is what the service asked for."""
        if retry_after is not None:
            return max(retry_after, 0.0)
        step = min(self.first_wait * 2**failures, self.max_wait)
        return step / 2 + self.jitter() * step / 2


class WireLogFiles:
    """Appends records as JSON lines to files that only their owner can read; a kind without a file is dropped."""

    def __init__(self, *, requests: str = "", responses: str = "") -> None:
        self._files: dict[RecordKind, str] = {"request": requests, "response": responses}

    def __call__(self, kind: RecordKind, record: Mapping[str, Any]) -> None:
        if not (path := self._files[kind]):
            return
        line = json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                os.write(fd, line)
            finally:
                os.close(fd)
        except OSError as cause:
            raise Unavailable(f"cannot write the log '{path}': {cause.strerror}") from cause


@dataclass(frozen=True, kw_only=True)
class GatewayOptions:
    """`context_windows` are those that the user set, by model; slow imports run in `threads`."""

    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    wire_log: WireLog | None = None
    context_windows: Mapping[str, int] = field(default_factory=dict[str, int])
    threads: DaemonThreadPool = field(default_factory=DaemonThreadPool)
