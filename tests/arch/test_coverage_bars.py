"""The gate on branch coverage per package fails when it should."""

import runpy
from pathlib import Path
from typing import Any

BARS = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "coverage_bars.py"))


def _report(**covered: int) -> dict[str, Any]:
    """Files named by package, each with 100 branches."""
    return {
        "files": {
            f"src/marid/{name.replace('__', '/')}/module.py": {
                "summary": {"covered_branches": count, "num_branches": 100}
            }
            for name, count in covered.items()
        }
    }


def test_a_package_below_the_bar_is_named() -> None:
    branches = BARS["branches_by_package"](_report(core=100, adapters__git=94, adapters__web=100))
    assert branches["adapters"] == (194, 200)
    assert BARS["failures"](branches) == ["adapters/git: 94.0 % of 100 branches are covered; the bar is 95 %"]


def test_the_whole_has_a_higher_bar() -> None:
    branches = BARS["branches_by_package"](_report(core=96, text=97))
    assert BARS["failures"](branches) == [".: 96.5 % of 200 branches are covered; the bar is 98 %"]
