"""Measured figures and their limits."""

import json
import time
from collections.abc import Sequence
from typing import NamedTuple

from bench import page
from bench.context.surroundings import machine


class Bar(NamedTuple):
    """A figure, its limit and whether that holds; None without a limit, or if this machine cannot tell."""

    name: str
    value: float
    limit: str = ""
    holds: bool | None = None

    def row(self) -> str:
        """A line for the terminal."""
        verdict = {True: "PASS", False: "FAIL", None: ""}[self.holds]
        return f"{self.name:66} {self.value:10.2f}  {self.limit:8} {verdict}".rstrip()


def report(kind: str, bars: Sequence[Bar]) -> int:
    """Print the bars and save them as a run of that kind; returns the exit code, 1 if a limit does not hold."""
    print(*(bar.row() for bar in bars), sep="\n")
    page.RESULTS.mkdir(exist_ok=True)
    name = time.strftime(f"{kind}-%Y%m%dT%H%M%SZ.json", time.gmtime())
    facts = {"machine": machine(), "bars": [bar._asdict() for bar in bars]}
    (page.RESULTS / name).write_text(json.dumps(facts, indent=2) + "\n")
    return int(any(bar.holds is False for bar in bars))


def write_docs(*kinds: str) -> int:
    """Write the last runs of these kinds into the part of the page for the first; returns the exit code."""
    found = [one for kind in kinds if (one := page.newest(kind))]
    if len(found) < len(kinds):
        return 1
    rows = ["| what | measured | bar | |", "| --- | ---: | --- | --- |"]
    for bar in (bar for run in found for bar in run["bars"]):
        verdict = {True: "pass", False: "fail", None: ""}[bar["holds"]]
        rows.append(f"| {bar['name']} | {bar['value']:,.2f} | {bar['limit']} | {verdict} |")
    page.write(kinds[0], "\n".join([*rows, "", f"On {found[0]['machine']}."]))
    return 0
