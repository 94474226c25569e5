"""The results as a table, as JSON, and as a part of the docs."""

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bench.context.bars import Results, Verdict
from bench.context.measure import Job

_HEADS = ("command (tree)", "wall s", "CPU s", "x floor", "peak MB", "files", "exact", "runs", "")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The circumstances of the run."""

    quick: bool
    rounds: int
    machine: str
    own_mb: float  # memory below this is not resolved


def facts(setting: Setting, jobs: Sequence[Job], results: Results, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Everything, as saved in JSON."""
    return {
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        **asdict(setting),
        "loaded": results.loaded,
        "rows": [_row(job, results) for job in jobs],
        "missing": results.missing,
        "watch": asdict(results.watch) if results.watch else None,
        "bars": [asdict(verdict) for verdict in verdicts],
    }


def _row(job: Job, results: Results) -> dict[str, Any]:
    series, finding = results.series[job.name], results.findings.get(job.name)
    row: dict[str, Any] = {"name": job.name, "group": job.group, "note": job.note, "failure": series.failure}
    if series.refused:
        row["note"] = "refused: it cannot fit"
    if not series.measured:
        return row
    row |= {"runs": len(series.samples), "wall_s": series.wall, "cpu_s": series.cpu, "peak_mb": series.peak_mb}
    floor = results.series.get(job.floor)
    if floor and floor.measured:
        row |= {"floor": job.floor, "x_wall": series.wall / floor.wall, "x_cpu": series.cpu / floor.cpu}
    if finding:
        row |= {"files": finding.files, "exact": finding.exact, "form": job.form, "problems": list(finding.problems)}
    return row


def save(folder: str, found: Mapping[str, Any]) -> str:
    """Write the results to a new file; the newest sorts last."""
    os.makedirs(folder, exist_ok=True)
    stamp = found["when"].replace(":", "").replace("-", "")
    path = os.path.join(folder, f"context-{stamp}{'-quick' if found['quick'] else ''}.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=1, ensure_ascii=False)
    return path


def newest(folder: str) -> dict[str, Any] | None:
    """The last full run; a quick one has no peers."""
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    whole = [name for name in names if name.endswith("Z.json")]
    if not whole:
        return None
    with open(os.path.join(folder, whole[-1]), encoding="utf-8") as file:
        return json.load(file)


def cells(found: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The rows of the table as text."""
    lines = [_cells(row, found["own_mb"]) for row in found["rows"]]
    lines += [(name, *("",) * 7, why) for name, why in found["missing"].items()]
    if (watch := found["watch"]) and not watch["failure"]:
        note = f"{watch['change_wall']:.2f} s until the output is new"
        lines.append(("marid --watch, first run (big)", "", f"{watch['first_cpu']:.3f}", *("",) * 6))
        lines.append(("marid --watch, one changed file (big)", "", f"{watch['change_cpu']:.3f}", *("",) * 5, note))
    return lines


def _cells(row: Mapping[str, Any], own_mb: float) -> tuple[str, ...]:
    if "wall_s" not in row:
        return (row["name"], *("",) * 7, f"failed: {row['failure'] or 'not run'}")
    times = f"{row['x_wall']:.2f}" if "x_wall" in row and row["floor"] != row["name"] else ""
    exact = f"{row['exact']:,}" if row.get("form", "nothing-else") != "nothing-else" else ""
    return (
        row["name"],
        f"{row['wall_s']:.3f}",
        f"{row['cpu_s']:.3f}",
        times,
        f"{row['peak_mb']:.0f}" if row["peak_mb"] > own_mb else f"<{own_mb + 0.5:.0f}",
        f"{row['files']:,}" if exact else "",
        exact,
        str(row["runs"]),
        "; ".join(part for part in (row["note"], *_shortcomings(row)) if part),
    )


def _shortcomings(row: Mapping[str, Any]) -> list[str]:
    """The problems of an output, without names of files."""
    return [problem for problem in row.get("problems", ()) if problem.startswith("the output")]


def table(found: Mapping[str, Any]) -> str:
    """A table for a terminal."""
    lines = [_HEADS, *cells(found)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADS) - 1)]
    return "\n".join(
        f"{line[0]:{widths[0]}}  "
        + "  ".join(f"{cell:>{width}}" for cell, width in zip(line[1:-1], widths[1:], strict=True))
        + f"  {line[-1]}"
        for line in lines
    )


def circumstances(found: Mapping[str, Any]) -> str:
    """One paragraph on how the figures were measured."""
    load = (
        "Other work loaded the machine (a floor took more than 1.5 times its CPU time): the limits were judged by "
        "the smaller of the wall and the CPU ratio."
        if found["loaded"]
        else "The machine was not loaded: the limits were judged by wall time."
    )
    return (
        f"{found['machine']}; warm cache, {found['rounds']} interleaved rounds, the fastest run and the largest peak "
        f"of each; memory below {found['own_mb']:.0f} MB is not resolved. {load}"
    )


def summary(verdicts: Sequence[Mapping[str, str]]) -> str:
    """The limits, one per line."""
    return "\n".join(f"{verdict['status']}  {verdict['bar']}: {verdict['measured']}" for verdict in verdicts)


def markdown(found: Mapping[str, Any]) -> str:
    """A table for the docs."""
    rows = ["| " + " | ".join(_HEADS) + " |", "|---|" + "---:|" * 7 + "---|"]
    rows += ["| " + " | ".join(_escaped(cell) for cell in line) + " |" for line in cells(found)]
    bars = ["| limit | measured | |", "|---|---|---|"]
    bars += [
        f"| {_escaped(bar['bar'])} | {_escaped(bar['measured'])} | {bar['status'].lower()} |" for bar in found["bars"]
    ]
    when = found["when"][:10]
    return "\n".join([f"Measured on {when}. {circumstances(found)}", "", *rows, "", *bars])


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")
