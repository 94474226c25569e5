"""Which step comes next. Threads share it."""

import threading
from collections.abc import Iterable

from marid.testing.request import Request
from marid.testing.script import ConditionalStep, ReplyFunction, ScriptedReply, Step


class _PendingStep:
    """A step for some requests, and how often it may still be played."""

    def __init__(self, matched: ConditionalStep) -> None:
        self.matched = matched
        self.left = matched.times

    def fits(self, request: Request) -> bool:
        return self.left != 0 and self.matched.kind == request.kind and self.matched.predicate(request)

    def take(self) -> ScriptedReply | ReplyFunction:
        if self.left is not None:
            self.left -= 1
        return self.matched.step


class ScriptQueue:
    """Steps that are left: those for certain requests first, then the others in their order."""

    def __init__(self, steps: Iterable[Step], *, repeat: bool = False) -> None:
        self._lock = threading.Lock()
        self._repeat = repeat
        self._cues: list[_PendingStep] = []
        self._ordered: list[ScriptedReply | ReplyFunction] = []
        self.add(*steps)

    @property
    def steps_left(self) -> int:
        """How many of the steps in order are left."""
        with self._lock:
            return len(self._ordered)

    def add(self, *steps: Step) -> None:
        """Append steps."""
        with self._lock:
            self._cues.extend(_PendingStep(step) for step in steps if isinstance(step, ConditionalStep))
            self._ordered.extend(step for step in steps if not isinstance(step, ConditionalStep))

    def next(self, request: Request) -> ScriptedReply | None:
        """What the script has for this request; a function is called outside of the lock, so it may take its time."""
        step = self._take(request)
        return step(request) if callable(step) else step

    def _take(self, request: Request) -> ScriptedReply | ReplyFunction | None:
        with self._lock:
            for cue in self._cues:
                if cue.fits(request):
                    return cue.take()
            if request.kind != "chat" or not self._ordered:
                return None
            step = self._ordered.pop(0)
            if self._repeat:
                self._ordered.append(step)
            return step
