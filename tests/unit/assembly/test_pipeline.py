import json
import os
from pathlib import Path

import pytest

from fakes.apps import AppFakes
from fakes.files import as_nobody
from fakes.secrets import AWS_KEY
from fakes.trees import plant, plant_names, scratch
from marid.assembly.pipeline import ContextRun
from marid.core.context import ContextReport, ContextRequest, ContextView, OutputFormat, RenderOptions
from marid.core.errors import Exhausted
from marid.core.events import ContextEvent, FileProblem


def run_of(top: Path, *views: ContextView, **more: object) -> ContextRun:
    shown = RenderOptions(views=views or (ContextView.CONTENT,), **more)  # pyright: ignore[reportArgumentType]
    return ContextRun(ContextRequest(cwd=str(top), render=shown), AppFakes().context_ports(), lambda _: None)


def written(run: ContextRun) -> str:
    return b"".join(piece for batch in run for piece in batch).decode()


def test_the_files_are_written_in_the_form_that_was_asked_for(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "x\n"})
    assert written(run_of(tmp_path)).startswith("File: a.py\n")
    assert written(run_of(tmp_path, form=OutputFormat.MARKDOWN)).startswith("## `a.py`\n")
    assert written(run_of(tmp_path, form=OutputFormat.XML)).startswith("<?xml")
    assert json.loads(written(run_of(tmp_path, form=OutputFormat.JSON)))["files"][0]["path"] == "a.py"


def test_an_empty_project_is_an_empty_text(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    assert written(run) == ""
    assert run.report().files == 0


def test_a_list_is_by_rules_only(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "x\n", "b.bin": b"\0", "c.log": ""})
    run = run_of(tmp_path, ContextView.LIST)
    assert written(run) == "a.py\nb.bin\n"
    assert run.report().files == 2


def test_trees_and_statistics_show_the_text_files_and_their_tokens(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "x\n", "b.bin": b"\0"})
    assert written(run_of(tmp_path, ContextView.TREE)) == f"{tmp_path.name}/\n└── a.py\n"
    assert written(run_of(tmp_path, ContextView.TREE, tokens=True)) == f"{tmp_path.name}/\n└── a.py (2 tokens)\n"
    assert written(run_of(tmp_path, ContextView.STATS)).startswith("1 files, 2 B, 2 tokens (o200k_base)\n")
    assert json.loads(written(run_of(tmp_path, ContextView.STATS, form=OutputFormat.JSON)))["tokens"] == 2
    text = written(run_of(tmp_path, ContextView.TREE, ContextView.STATS))
    assert f"{tmp_path.name}/\n└── a.py (2 tokens)\n\n1 files" in text
    run = run_of(tmp_path, form=OutputFormat.JSON, tokens=True)
    assert json.loads(written(run))["files"][0]["tokens"] == 2
    assert run.report().tokens == 2


def test_the_size_limit_holds_for_the_files_and_for_nothing_else(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "x" * 2000})
    for view in (ContextView.LIST, ContextView.TREE, ContextView.STATS):
        run = run_of(tmp_path, view)
        assert written(ContextRun(run.request._replace(max_bytes=1000), AppFakes().context_ports(), lambda _: None))
    run = run_of(tmp_path)
    with pytest.raises(Exhausted):
        iter(ContextRun(run.request._replace(max_bytes=1000), AppFakes().context_ports(), lambda _: None))


def test_with_an_output_the_limit_is_judged_on_the_way(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "x" * 2000})
    request = ContextRequest(cwd=str(tmp_path), max_bytes=1000, output="out.txt")
    batches = iter(ContextRun(request, AppFakes().context_ports(), lambda _: None))
    with pytest.raises(Exhausted):
        list(batches)


@pytest.mark.parametrize("view", ContextView)
def test_the_walk_is_done_before_anything_is_asked_for(tmp_path: Path, view: ContextView) -> None:
    plant_names(tmp_path, "a.py")
    batches = iter(run_of(tmp_path, view))
    plant_names(tmp_path, "b.py")
    text = b"".join(piece for batch in batches for piece in batch)
    assert b"b.py" not in text


def test_the_report_adds_up_what_passed(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": f"k = '{AWS_KEY}'\n", "b.py": "b\n", "c.bin": b"\0"})
    (tmp_path / "link").symlink_to("a.py")
    os.mkfifo(tmp_path / "pipe")
    run = run_of(tmp_path, form=OutputFormat.JSON, tokens=True)
    files = json.loads(written(run))["files"]
    assert run.report() == ContextReport(
        files=2,
        bytes=sum(file["written"] for file in files),
        masked=1,
        links=1,
        special=1,
        binaries=1,
        tokens=sum(file["tokens"] for file in files),
        exact=True,
    )


def test_without_counting_no_tokens_are_reported(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "a"})
    run = run_of(tmp_path)
    written(run)
    assert (run.report().tokens, run.report().exact) == (None, True)


def test_an_unreadable_file_is_reported_and_counted() -> None:
    events: list[ContextEvent] = []
    with scratch() as top:
        plant(top, {"a.py": "a", "closed\n.py": "b"})
        os.chmod(top, 0o755)
        os.chmod(f"{top}/closed\n.py", 0)
        run = ContextRun(ContextRequest(cwd=top), AppFakes().context_ports(), events.append)
        with as_nobody():
            assert written(run).count("File: ") == 1
        assert run.report().problems == 1
    assert FileProblem(path='"closed\\n.py"', reason="permission denied") in events


def test_files_that_shrink_while_they_are_read_are_let_through(tmp_path: Path) -> None:
    plant(tmp_path, {"a": b"x" * 1_200_000, "b": b"x" * 1_200_000})
    request = ContextRequest(cwd=str(tmp_path), max_bytes=2_000_000, output="out.txt")
    batches = iter(ContextRun(request, AppFakes().context_ports(), lambda _: None))
    next(batches)
    plant(tmp_path, {"a": b""})
    assert b"".join(piece for batch in batches for piece in batch).count(b"File: b\n") == 1
