import json
import os
import sys
from dataclasses import replace
from pathlib import Path

from bench.context.bars import AtMost, Peak
from bench.context.measure import Job
from bench.context.rounds import Rounds
from bench.context.trees import names_file


def _job(folder: Path, name: str, program: str = "pass") -> Job:
    """A job that notes each of its runs in a file."""
    note = f"open({str(folder / 'notes')!r}, 'a').write({name!r} + ' '); "
    argv = (sys.executable, "-S", "-E", "-c", note + program)
    return Job(name=name, argv=argv, tree="tiny", root=str(folder), folder=str(folder))


def _rounds(folder: Path, *jobs: Job) -> Rounds:
    return Rounds(jobs, os.environ, str(folder))


def _notes(folder: Path) -> str:
    return (folder / "notes").read_text()


def test_jobs_take_turns_and_the_first_turn_is_not_timed(tmp_path: Path) -> None:
    often, seldom = replace(_job(tmp_path, "a"), repeat=2), replace(_job(tmp_path, "b"), rounds=1, warm_up=False)
    rounds = _rounds(tmp_path, often, seldom)
    rounds.warm_up()
    rounds.play(2)
    assert _notes(tmp_path) == "a a a b a a "
    assert [len(series.samples) for series in rounds.results.series.values()] == [4, 1]


def test_a_job_that_fails_is_not_run_again(tmp_path: Path) -> None:
    rounds = _rounds(tmp_path, _job(tmp_path, "a", "raise SystemExit('no')"))
    rounds.warm_up()
    rounds.play(3)
    assert _notes(tmp_path) == "a "
    assert rounds.results.series["a"].failure == "exit 1: no"


def test_an_output_is_verified_once_and_not_kept(tmp_path: Path) -> None:
    output = tmp_path / "out"
    Path(names_file(str(tmp_path))).write_text(json.dumps({"a.py": 0}))
    lists = replace(_job(tmp_path, "a", "print('a.py')"), output=str(output), redirect=True, form="list")
    rounds = _rounds(tmp_path, lists)
    rounds.play(2)
    assert rounds.results.findings["a"].right
    assert rounds.verified() == ["a"]
    assert not output.exists()


def test_a_limit_that_holds_gets_no_more_rounds_and_one_that_fails_does(tmp_path: Path) -> None:
    rounds = _rounds(tmp_path, _job(tmp_path, "a"), _job(tmp_path, "b"), _job(tmp_path, "c"))
    rounds.play(1)
    rounds.insist([Peak(job="c", limit_mb=1e9), AtMost(left="a", right="b", limit=0)], 2)
    assert _notes(tmp_path) == "a b c a b a b "
