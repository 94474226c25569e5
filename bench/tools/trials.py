"""One comparison: a tool, its floor, and the limit."""

import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

Work = Callable[[], Coroutine[Any, Any, object]]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One run makes `calls` calls; the limit is `times` the floor plus `extra` seconds a call; 0: no limit."""

    name: str
    floor_name: str
    ours: Work
    floor: Work
    times: float = 0.0
    extra: float = 0.0
    calls: int = 1


@dataclass(kw_only=True)
class Measured:
    """The seconds of every run."""

    trial: Trial
    ours: list[float] = field(default_factory=list[float])
    floor: list[float] = field(default_factory=list[float])

    def verdict(self) -> str:
        """PASS, FAIL, or "" without a limit."""
        if not self.trial.times:
            return ""
        return "PASS" if self.mine <= self.allowed else "FAIL"

    @property
    def mine(self) -> float:
        return quartile(self.ours)

    @property
    def theirs(self) -> float:
        return quartile(self.floor)

    @property
    def allowed(self) -> float:
        return self.trial.times * self.theirs + self.trial.extra * self.trial.calls

    def row(self) -> tuple[str, ...]:
        """Cells for the table."""
        bar = f"{self.trial.times:g}x" if self.trial.times else ""
        bar += f" + {self.trial.extra * 1000:g} ms" if self.trial.extra else ""
        milliseconds = (f"{seconds / self.trial.calls * 1000:.2f}" for seconds in (self.mine, self.theirs))
        ratio = f"{self.mine / self.theirs:.2f}x"
        return (self.trial.name, *milliseconds, self.trial.floor_name, ratio, bar, self.verdict())

    def facts(self) -> dict[str, object]:
        """Fields for the file of results."""
        return {
            "name": self.trial.name,
            "floor": self.trial.floor_name,
            "ours_seconds": self.mine / self.trial.calls,
            "floor_seconds": self.theirs / self.trial.calls,
            "ratio": self.mine / self.theirs,
            "times": self.trial.times,
            "extra": self.trial.extra,
            "verdict": self.verdict(),
            "runs": len(self.ours),
        }


async def measure(trials: list[Trial], rounds: int) -> list[Measured]:
    """Run all trials in turns, so that load on the machine slows tool and floor alike; the first round warms up."""
    found = [Measured(trial=trial) for trial in trials]
    for number in range(rounds + 1):
        for one in found:
            pairs = ((one.trial.floor, one.floor), (one.trial.ours, one.ours))
            for work, seconds in pairs if number % 2 else reversed(pairs):
                start = time.perf_counter()
                await work()
                if number:
                    seconds.append(time.perf_counter() - start)
    return found


def quartile(seconds: list[float]) -> float:
    """The lower quartile: other work on the machine only makes runs longer."""
    return sorted(seconds)[len(seconds) // 4]


HEADS = ("what", "ms a call", "floor ms", "floor", "ratio", "bar", "")


def table(found: list[Measured]) -> str:
    """As text."""
    rows = [HEADS, *(one.row() for one in found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def markdown(found: list[dict[str, object]]) -> str:
    """As a table for the docs."""
    lines = ["| what | ms a call | floor | ms | ratio | bar |", "| --- | --- | --- | --- | --- | --- |"]
    for one in found:
        ours, floor, ratio = (float(str(one[key])) for key in ("ours_seconds", "floor_seconds", "ratio"))
        bar = f"{one['times']}x" if one["times"] else ""
        bar += f" + {float(str(one['extra'])) * 1000:g} ms" if one["extra"] else ""
        cells = (one["name"], f"{ours * 1000:.2f}", one["floor"], f"{floor * 1000:.2f}", f"{ratio:.2f}x", bar)
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)
