import os
import sys
from pathlib import Path

import pytest
from bench.context.measure import Job, Sample, Series, run
from bench.context.watch import Watched, measure


def _job(folder: Path, program: str, *, refusal: int = 0, timeout: int = 30) -> Job:
    return Job(
        name="job",
        argv=(sys.executable, "-c", program),
        tree="tiny",
        root=str(folder),
        folder=str(folder),
        output=str(folder / "out"),
        redirect=True,
        home=str(folder / "home"),
        refusal=refusal,
        timeout=timeout,
    )


def test_a_run_has_times_memory_and_its_output_in_a_file(tmp_path: Path) -> None:
    program = "import os; print(os.getcwd(), os.environ['MARID_HOME'])"
    sample = run(_job(tmp_path, program), os.environ, str(tmp_path / "errors"))
    assert sample.failure == ""
    assert 0 < sample.cpu < sample.wall * 8
    assert sample.peak_mb > 5
    assert (tmp_path / "out").read_text().split() == [str(tmp_path), str(tmp_path / "home")]


@pytest.mark.parametrize(
    ("program", "failure"),
    [("raise SystemExit('one\\ntwo\\nthree')", "exit 1: two three"), ("raise SystemExit(3)", "exit 3: no message")],
)
def test_a_failure_says_what_the_program_said_last(tmp_path: Path, program: str, failure: str) -> None:
    assert run(_job(tmp_path, program), os.environ, str(tmp_path / "errors")).failure == failure


def test_an_expected_refusal_is_an_answer(tmp_path: Path) -> None:
    sample = run(_job(tmp_path, "raise SystemExit(5)", refusal=5), os.environ, str(tmp_path / "errors"))
    assert (sample.failure, sample.refused) == ("", True)


def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    sample = run(_job(tmp_path, "import signal; signal.pause()", timeout=1), os.environ, str(tmp_path / "errors"))
    assert sample.failure.startswith("killed")


def test_the_fastest_run_and_the_largest_peak_count() -> None:
    series = Series()
    series.add(Sample(wall=0.1, cpu=0.1, peak_mb=90), timed=False)
    assert not series.measured
    series.add(Sample(wall=3, cpu=1, peak_mb=50))
    series.add(Sample(wall=2, cpu=2, peak_mb=60))
    assert (series.wall, series.cpu, series.peak_mb, series.measured) == (2, 1, 90, True)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="CPU times come from /proc")
def test_a_program_that_ends_instead_of_watching_is_a_failure_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text("pass\n")
    program = tmp_path / "marid"
    program.write_text(f"#!{sys.executable}\nraise SystemExit('no such option --watch')\n")
    program.chmod(0o700)
    watched = Watched(
        tree=str(tmp_path / "tree"),
        copy=str(tmp_path / "copy"),
        output=str(tmp_path / "out"),
        errors=str(tmp_path / "errors"),
    )
    cost = measure(str(program), watched, os.environ)
    assert cost.failure == "it ended: no such option --watch"
    assert not cost.impossible
    assert not (tmp_path / "copy").exists()
