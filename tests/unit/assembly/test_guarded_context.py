from pathlib import Path

import pytest

from fakes.hostile_project import context_reader
from fakes.trees import plant
from marid.assembly.context_reader import ContextReader, ContextText
from marid.assembly.guarded_context import GuardedContextReader
from marid.core.context import ContextView, FileSelection, RenderOptions
from marid.core.errors import Exhausted
from marid.workspace.guard.path_scope import PathScope

LIST = RenderOptions(views=(ContextView.LIST,))


@pytest.fixture
def reader() -> ContextReader:
    made = context_reader()
    assert isinstance(made, GuardedContextReader)
    return made


def test_a_caller_that_takes_less_is_told_what_to_leave_out(tmp_path: Path, reader: ContextReader) -> None:
    plant(tmp_path, {"a.py": "x = 1\n", "src/long.txt": "x" * 2_000})
    folder = PathScope([str(tmp_path)]).resolve(".")
    with pytest.raises(Exhausted, match=r"(?s)exceeds limit of .*--rule '!/src/long.txt'"):
        reader.read(folder, FileSelection(targets=()), RenderOptions(), 1_000)
    assert reader.read(folder, FileSelection(targets=()), LIST, 1_000) == ContextText("a.py\nsrc/long.txt\n", 2, ())
    assert reader.read(folder, FileSelection(targets=("a.py", ".")), LIST, None).files == 2
    plant(tmp_path, {f"src/a_rather_long_name_{number}.py": "" for number in range(60)})
    with pytest.raises(Exhausted, match="bytes, and 1,000 are the limit here"):
        reader.read(folder, FileSelection(targets=()), LIST, 1_000)
