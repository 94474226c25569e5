"""What was measured, beside what it may be."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bench import page
from bench.context.surroundings import machine


class Bar(NamedTuple):
    """A limit, what was measured, and whether it holds; None when there is no limit, or this machine cannot tell."""

    name: str
    value: float
    limit: str = ""
    holds: bool | None = None

    def row(self) -> str:
        """As a person reads it."""
        verdict = {True: "PASS", False: "FAIL", None: ""}[self.holds]
        return f"{self.name:66} {self.value:10.2f}  {self.limit:8} {verdict}".rstrip()


def told(kind: str, bars: Sequence[Bar]) -> int:
    """Print them and save them as the run of that kind; the exit code, 1 when one does not hold."""
    print(*(bar.row() for bar in bars), sep="\n")
    page.RESULTS.mkdir(exist_ok=True)
    name = time.strftime(f"{kind}-%Y%m%dT%H%M%SZ.json", time.gmtime())
    facts = {"machine": machine(), "bars": [bar._asdict() for bar in bars]}
    (page.RESULTS / name).write_text(json.dumps(facts, indent=2) + "\n")
    return int(any(bar.holds is False for bar in bars))


def put(*kinds: str) -> int:
    """Put the last runs of these kinds into the page of the mark that the first has; the exit code."""
    found = [one for kind in kinds if (one := page.newest(kind))]
    if len(found) < len(kinds):
        return 1
    rows = ["| what | measured | bar | |", "| --- | ---: | --- | --- |"]
    rows += _rows(bar for run in found for bar in run["bars"])
    page.put(kinds[0], "\n".join([*rows, "", f"On {found[0]['machine']}."]))
    return 0


def _rows(bars: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    words = {True: "pass", False: "fail", None: ""}
    return (f"| {bar['name']} | {bar['value']:,.2f} | {bar['limit']} | {words[bar['holds']]} |" for bar in bars)
