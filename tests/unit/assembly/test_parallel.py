"""A pack made by several hands is the pack that one hand makes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from fakes.ports import InlinePool
from marid.adapters.workers.fork_pool import ForkPool
from marid.assembly.context_ports import ContextPorts
from marid.assembly.pipeline import MIN_PARALLEL_FILES, ContextRun
from marid.bootstrap.wiring import open_request
from marid.core.context import ContextReport, ContextRequest, FileSelection, OutputFormat, RenderOptions
from marid.core.errors import Exhausted
from marid.core.events import ContextEvent, FileProblem, PackProgress
from marid.ports.job_pool import JobPool, OutputJob, OutputPart

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("many")
    for number in range(MIN_PARALLEL_FILES + 50):
        folder = top / f"d{number % 7}"
        folder.mkdir(exist_ok=True)
        (folder / f"f{number:04}.txt").write_text(f"file {number}\n" * (number % 5))
    (top / "a.bin").write_bytes(b"\0\1")
    (top / "d0" / "b.bin").write_bytes(b"\0\1")
    (top / "d1" / "key.txt").write_text(f"token {KEY}\n")
    (top / "d2" / "large.txt").write_text("long\n" * 200_000)
    return top


def _run(top: Path, crew: JobPool | None, heard: list[ContextEvent], **more: Any) -> tuple[bytes, ContextReport]:
    means: ContextPorts = open_request(cwd=str(top), environ={}).context_ports._replace(
        job_pool=(lambda: crew) if crew else None
    )
    shown = more.pop("shown", RenderOptions())
    request = ContextRequest(cwd=str(top), selection=FileSelection(targets=(str(top),)), render=shown, **more)
    run = ContextRun(request, means, heard.append)
    data = b"".join(piece for batch in run for piece in batch)
    return data, run.report()


@pytest.mark.parametrize("helpers", [0, 1, 3])
def test_many_hands_write_the_same_bytes_and_report_as_one(many: Path, helpers: int) -> None:
    alone: list[ContextEvent] = []
    shared: list[ContextEvent] = []
    expected, report = _run(many, None, alone)
    assert _run(many, ForkPool(helpers), shared) == (expected, report)
    assert report.masked == 1
    assert report.binaries == 2
    assert report.files == MIN_PARALLEL_FILES + 52
    assert [what for what in shared if isinstance(what, PackProgress)][-1] == alone[-1]


def test_a_small_project_is_nobodys_but_ours(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    crew = InlinePool()
    _run(tmp_path, crew, [])
    assert crew.jobs == 0


@pytest.mark.parametrize(
    "shown", [RenderOptions(form=OutputFormat.XML), RenderOptions(line_numbers=True), RenderOptions(with_tree=True)]
)
def test_only_the_plain_form_is_shared_out(many: Path, shown: RenderOptions) -> None:
    crew = InlinePool()
    _run(many, crew, [], shown=shown)
    assert crew.jobs == 0


def test_the_size_limit_holds_for_all_hands_together(many: Path) -> None:
    with pytest.raises(Exhausted, match="Total content size exceeds limit"):
        _run(many, ForkPool(1), [], max_bytes=900_000, output="out.txt")


def test_what_a_helper_could_not_read_is_told_here(many: Path) -> None:
    class Meddler(InlinePool):
        """Removes files after the walk and before they are read."""

        def run_jobs(self, jobs: Sequence[OutputJob]) -> Iterator[OutputPart]:
            gone.unlink()
            return super().run_jobs(jobs)

    gone = many / "d6" / "zz-gone.txt"
    gone.write_text("soon gone\n")
    heard: list[ContextEvent] = []
    _, report = _run(many, Meddler(), heard)
    assert report.problems == 1
    assert FileProblem(path="d6/zz-gone.txt", reason="it vanished") in heard


def test_the_first_file_has_no_separator_even_when_binaries_come_before_it(tmp_path: Path) -> None:
    for number in range(MIN_PARALLEL_FILES):
        (tmp_path / f"a{number:04}.bin").write_bytes(b"\0")
    (tmp_path / "z.txt").write_text("z\n")
    data, report = _run(tmp_path, ForkPool(1), [])
    assert data.startswith(b"File: z.txt\n")
    assert report.binaries == MIN_PARALLEL_FILES
