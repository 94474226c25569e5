from pathlib import Path
from typing import Any

import pytest
from bench.context import jobs, report
from bench.context.bars import Results, Status, Verdict
from bench.context.measure import Job, Sample, Series
from bench.context.verify import Finding
from bench.context.watch import WatchCost


def _job(name: str, **more: Any) -> Job:
    return Job(name=name, argv=("true",), tree="big", root="/", folder="/", floor=jobs.CAT, **more)


@pytest.fixture
def found() -> dict[str, Any]:
    series = {name: Series() for name in (jobs.PASS, jobs.CAT, jobs.TEXT, "peer (big)", "broken (big)")}
    for number, each in enumerate(series.values(), start=1):
        each.add(Sample(wall=number, cpu=number, peak_mb=10 * number))
    series["broken (big)"].failure = "exit 1: boom"
    results = Results(
        series=series,
        findings={
            jobs.TEXT: Finding(files=7004, exact=7004),
            "peer (big)": Finding(files=7000, exact=6990, problems=("the output holds a binary file", "altered: a.py")),
        },
        missing={"gone (big)": "not available: no wheel"},
        watch=WatchCost(first_cpu=0.4, change_cpu=0.1, change_wall=0.2),
    )
    setting = report.Setting(quick=False, rounds=2, machine="2 cores", own_mb=16)
    table = [
        _job(jobs.CAT, group="floor"),
        _job(jobs.TEXT, form="text"),
        _job("peer (big)", group="peer", form="text", note="1.0"),
        _job("broken (big)", group="peer"),
    ]
    return report.facts(setting, table, results, [Verdict(bar="a | b", status=Status.PASS, measured="1.5x")])


def test_every_job_has_a_row_and_so_has_what_is_missing(found: dict[str, Any]) -> None:
    rows = {line[0]: line[1:] for line in report.cells(found)}
    assert rows[jobs.CAT] == ("2.000", "2.000", "", "20", "", "", "1", "")
    assert rows[jobs.TEXT] == ("3.000", "3.000", "1.50", "30", "7,004", "7,004", "1", "")
    assert rows["peer (big)"][-4:] == ("7,000", "6,990", "1", "1.0; the output holds a binary file")
    assert rows["broken (big)"][-1] == "failed: exit 1: boom"
    assert rows["gone (big)"][-1] == "not available: no wheel"
    assert rows["marid --watch, one changed file (big)"][1] == "0.100"


def test_memory_that_the_measuring_process_hides_is_shown_as_a_bound(found: dict[str, Any]) -> None:
    found["own_mb"] = 25
    assert {line[0]: line[4] for line in report.cells(found)}[jobs.CAT] == "<26"


def test_the_page_part_holds_table_and_limits_in_valid_cells(found: dict[str, Any]) -> None:
    part = report.markdown(found)
    assert "| a \\| b | 1.5x | pass |" in part
    assert "2 cores" in part
    assert "not loaded" in part


def test_the_newest_whole_run_is_found_again(tmp_path: Path, found: dict[str, Any]) -> None:
    assert report.newest(str(tmp_path / "none")) is None
    assert report.newest(str(tmp_path)) is None
    report.save(str(tmp_path), found | {"when": "2026-01-01T00:00:00Z", "machine": "old"})
    report.save(str(tmp_path), found | {"when": "2026-01-02T00:00:00Z", "machine": "new"})
    report.save(str(tmp_path), found | {"when": "2026-01-03T00:00:00Z", "quick": True})
    newest = report.newest(str(tmp_path))
    assert newest is not None
    assert newest["machine"] == "new"
    assert "1.5x" in report.summary(newest["bars"])
