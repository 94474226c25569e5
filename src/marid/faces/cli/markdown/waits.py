"""What a held mark waits for, so that text which settles nothing is looked at once."""

import re
from typing import Protocol

_TICKS = re.compile("`+")


class Wait(Protocol):
    """Something that later text decides."""

    def is_over(self, text: str) -> bool:
        """True if with this text, which follows all that was shown before, it is worth looking again."""
        ...


class UntilAny:
    """Until one of some characters has come, or as many as `most` of all."""

    def __init__(self, wanted: str, most: int) -> None:
        self._wanted = wanted
        self._left = most

    def is_over(self, text: str) -> bool:
        """See Wait."""
        self._left -= len(text)
        return self._left <= 0 or any(char in text for char in self._wanted)


class UntilOther:
    """Until a run of one character is over."""

    def __init__(self, char: str) -> None:
        self._char = char

    def is_over(self, text: str) -> bool:
        """See Wait."""
        return bool(text.strip(self._char))


class UntilTicks:
    """Until a run of exactly so many backticks is over."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._run = 0

    def is_over(self, text: str) -> bool:
        """See Wait."""
        if not text:
            return False
        if text[0] != "`" and self._run == self._length:
            return True
        carried, self._run = self._run, 0
        for run in _TICKS.finditer(text):
            length = len(run[0]) + (0 if run.start() else carried)
            if run.end() == len(text):
                self._run = length
            elif length == self._length:
                return True
        return False
