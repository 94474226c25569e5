"""The limits that must hold, and how they are judged.

Wall time counts. Where other work loads the machine, the smaller of the wall and the CPU ratio does: waiting for a busy
core says nothing about the program.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

from bench.context import jobs
from bench.context.measure import Series
from bench.context.peers import Recipe
from bench.context.trees import Tree
from bench.context.verify import Finding
from bench.context.watch import WatchCost

_LOADED = 1.5  # wall time over CPU time of a floor that has one thread; on an idle machine they are equal
_PEAK_MB = 60
_PEAK_WITH_TOKENS_MB = 120
_TIMES_FASTER = {"jinni": 10, "gitingest": 20, "repomix": 20}


class Status(StrEnum):
    """The outcome of a limit."""

    PASS = "PASS"
    FAIL = "FAIL"
    SKIP = "SKIP"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One limit, judged."""

    bar: str
    status: Status
    measured: str


@dataclass(kw_only=True)
class Results:
    """Everything a run has measured."""

    series: dict[str, Series] = field(default_factory=dict[str, Series])
    findings: dict[str, Finding] = field(default_factory=dict[str, Finding])
    missing: dict[str, str] = field(default_factory=dict[str, str])  # what could not be measured, and why
    watch: WatchCost | None = None

    @property
    def loaded(self) -> bool:
        """Whether the floors wait for a core. A short one may be lucky, so longer ones count too."""
        floors = (self.series[name].samples for name in (jobs.PASS, jobs.IMPORTS, jobs.CAT) if name in self.series)
        return any(
            median(run.wall for run in runs) > _LOADED * median(run.cpu for run in runs) for runs in floors if runs
        )

    def lacking(self, *names: str) -> str:
        """Why a limit that needs these jobs cannot be judged; empty when it can."""
        for name in names:
            if name in self.missing:
                return f"{name}: {self.missing[name]}"
            if name not in self.series:
                return f"{name}: not measured"
        return ""

    def failed(self, *names: str) -> str:
        """The first failure among the jobs."""
        return next((f"{name}: {self.series[name].failure}" for name in names if self.series[name].failure), "")

    def best(self, figure: Callable[[float, float], float], left: str, right: str) -> float:
        """A figure of two jobs, lower is better: by wall time, or the better of wall and CPU on a loaded machine."""
        one, other = self.series[left], self.series[right]
        by_wall = figure(one.wall, other.wall)
        return min(by_wall, figure(one.cpu, other.cpu)) if self.loaded else by_wall


class Bar(ABC):
    """A limit; `jobs` names what it needs."""

    @property
    @abstractmethod
    def label(self) -> str: ...

    @property
    @abstractmethod
    def jobs(self) -> tuple[str, ...]: ...

    @abstractmethod
    def check(self, results: Results) -> tuple[bool, str]:
        """Whether the limit holds, and what was measured."""

    def skip_reason(self, results: Results) -> str:
        """Why the limit cannot be judged; empty when it can."""
        return results.lacking(*self.jobs)

    def judge(self, results: Results) -> Verdict:
        """A job that is not there is skipped; one that broke has failed."""
        if why := self.skip_reason(results):
            return Verdict(bar=self.label, status=Status.SKIP, measured=why)
        if broken := results.failed(*self.jobs):
            return Verdict(bar=self.label, status=Status.FAIL, measured=broken)
        holds, measured = self.check(results)
        return Verdict(bar=self.label, status=Status.PASS if holds else Status.FAIL, measured=measured)


@dataclass(frozen=True, kw_only=True)
class AtMost(Bar):
    """A job takes at most `limit` times as long as another."""

    left: str
    right: str
    limit: float

    @property
    def label(self) -> str:
        return f"{self.left} at most {self.limit:g}x {self.right}"

    @property
    def jobs(self) -> tuple[str, ...]:
        return (self.left, self.right)

    def check(self, results: Results) -> tuple[bool, str]:
        ratio = results.best(lambda one, other: one / other, *self.jobs)
        return ratio <= self.limit, f"{ratio:.2f}x"


@dataclass(frozen=True, kw_only=True)
class Faster(Bar):
    """The main job is at least `times` times as fast as a peer; a peer that breaks is skipped."""

    peer: Recipe
    times: float

    @property
    def label(self) -> str:
        how = f"at least {self.times:g}x faster" if self.times > 1 else "faster"
        return f"{jobs.TEXT} {how} than {self.peer.name}"

    @property
    def jobs(self) -> tuple[str, ...]:
        return (jobs.TEXT, self.peer.job)

    def skip_reason(self, results: Results) -> str:
        return super().skip_reason(results) or results.failed(self.peer.job)

    def check(self, results: Results) -> tuple[bool, str]:
        ratio = 1 / results.best(lambda one, other: one / other, *self.jobs)
        return ratio >= self.times and ratio > 1, f"{ratio:.1f}x"


@dataclass(frozen=True, kw_only=True)
class Peak(Bar):
    """A job never uses more memory than this."""

    job: str
    limit_mb: float

    @property
    def label(self) -> str:
        return f"{self.job} peaks below {self.limit_mb:.0f} MB"

    @property
    def jobs(self) -> tuple[str, ...]:
        return (self.job,)

    def check(self, results: Results) -> tuple[bool, str]:
        peak = results.series[self.job].peak_mb
        return peak < self.limit_mb, f"{peak:.0f} MB"


@dataclass(frozen=True, kw_only=True)
class TokensAdd(Bar):
    """Counting tokens adds at most `limit_s` seconds, and less the second time."""

    limit_s: float
    again: float  # the part of the first cost that the second run may have

    @property
    def label(self) -> str:
        return f"counting tokens (big) adds at most {self.limit_s:g} s, from the cache at most {self.again:g} of that"

    @property
    def jobs(self) -> tuple[str, ...]:
        return (jobs.COLD, jobs.CACHED, jobs.TEXT)

    def check(self, results: Results) -> tuple[bool, str]:
        first = results.best(lambda one, other: one - other, jobs.COLD, jobs.TEXT)
        second = results.best(lambda one, other: one - other, jobs.CACHED, jobs.TEXT)
        holds = first <= self.limit_s and second <= max(0.02, first * self.again)
        return holds, f"{first:.2f} s, then {second:.2f} s"


@dataclass(frozen=True, kw_only=True)
class WatchSaves(Bar):
    """After one changed file `--watch` costs at most this part of its first run."""

    part: float

    @property
    def label(self) -> str:
        return f"--watch (big), one changed file: at most {self.part:g} of the first run's CPU time"

    @property
    def jobs(self) -> tuple[str, ...]:
        return (jobs.TEXT,)

    def skip_reason(self, results: Results) -> str:
        if results.watch is None or results.watch.impossible:
            return results.watch.failure if results.watch else "not measured"
        return super().skip_reason(results)

    def check(self, results: Results) -> tuple[bool, str]:
        cost = results.watch or WatchCost()
        if cost.failure:
            return False, cost.failure
        part = cost.change_cpu / cost.first_cpu
        plain = cost.change_cpu / results.series[jobs.TEXT].cpu
        return part <= self.part, f"{part:.2f} ({plain:.2f} of a run without --watch)"


@dataclass(frozen=True, kw_only=True)
class Exact(Bar):
    """Every kept file is in the outputs byte for byte, and nothing that must not be there."""

    outputs: tuple[str, ...]

    @property
    def label(self) -> str:
        return "every output of marid holds each file byte for byte, nothing excluded, nothing binary"

    @property
    def jobs(self) -> tuple[str, ...]:
        return self.outputs

    def check(self, results: Results) -> tuple[bool, str]:
        found = [(job, results.findings[job]) for job in self.outputs]
        wrong = [f"{job}: {'; '.join(finding.problems)}" for job, finding in found if not finding.right]
        files = sum(finding.exact for _, finding in found)
        return not wrong, ". ".join(wrong) or f"{len(found)} outputs, {files:,} files"


def ratio_bars(peers: Sequence[Recipe]) -> list[Bar]:
    """The limits that more rounds can help: noise only makes a run slower."""
    return [
        AtMost(left=jobs.TEXT, right=jobs.CAT, limit=1.5),
        AtMost(left=jobs.LIST, right=jobs.RG, limit=1.5),
        AtMost(left=jobs.TINY, right=jobs.PASS, limit=8),
        AtMost(left=jobs.TINY, right=jobs.IMPORTS, limit=1.5),
        *(Faster(peer=peer, times=_TIMES_FASTER.get(peer.name, 1)) for peer in peers),
        TokensAdd(limit_s=1.0, again=0.5),
    ]


def other_bars(trees: Mapping[str, Tree], verified: Sequence[str]) -> list[Bar]:
    """Memory, watching, and the content of the outputs."""
    plain = ((jobs.TEXT, "big"), (jobs.LIST, "wide"), (jobs.WIDE, "wide"), (jobs.TALL, "tall"), (jobs.CROWD, "crowd"))
    counted = (jobs.COLD, jobs.TALL_TOKENS, jobs.CROWD_TOKENS)
    return [
        *(Peak(job=job, limit_mb=_PEAK_MB + trees[tree].largest / (1 << 20)) for job, tree in plain),
        *(Peak(job=job, limit_mb=_PEAK_WITH_TOKENS_MB) for job in counted),
        WatchSaves(part=0.5),
        Exact(outputs=tuple(verified)),
    ]
