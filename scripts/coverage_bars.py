"""Fail when too few branches of a package, its sub-packages included, are covered.

Reads the data file of the last test run. Coverage's own `fail_under` mixes lines and branches of the whole tree, so a
badly tested package could hide among the others.
"""

import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path, PurePosixPath

from coverage import Coverage

TOTAL, PACKAGE = 98.0, 95.0


def branches_by_package(report: dict[str, dict[str, dict[str, dict[str, int]]]]) -> dict[str, tuple[int, int]]:
    """Covered and existing branches of every package, by its path; `.` holds all of them."""
    found: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for file, entry in report["files"].items():
        summary = entry["summary"]
        for folder in PurePosixPath(file.partition("marid/")[2]).parents:
            found[str(folder)][0] += summary["covered_branches"]
            found[str(folder)][1] += summary["num_branches"]
    return {name: (covered, known) for name, (covered, known) in sorted(found.items()) if known}


def failures(branches: dict[str, tuple[int, int]]) -> list[str]:
    """A line for each package below its bar."""
    bars = {name: TOTAL if name == "." else PACKAGE for name in branches}
    return [
        f"{name}: {100 * covered / known:.1f} % of {known} branches are covered; the bar is {bars[name]:g} %"
        for name, (covered, known) in branches.items()
        if 100 * covered < bars[name] * known
    ]


def main() -> int:
    """Print the packages below the bar; exit code 1 if there are any."""
    data = Coverage()
    data.load()
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "coverage.json"
        data.json_report(outfile=str(target))
        branches = branches_by_package(json.loads(target.read_text("utf-8")))
    low = failures(branches)
    covered, known = branches["."]
    print(f"branches: {100 * covered / known:.2f} % of {known} in {len(branches) - 1} packages")
    print(*low, sep="\n", end="\n" if low else "")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
