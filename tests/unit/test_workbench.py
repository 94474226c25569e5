"""The tools from Python, as the README shows them."""

from pathlib import Path

import anyio
import pytest

import marid
from marid.core.errors import NotFound
from marid.core.policy.approval import ApprovalAnswer, Question


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "a.py").write_text("x = 1\n")
    return project


def test_tools_are_called_by_name_and_run_in_parallel(project: Path, tmp_path: Path) -> None:
    async def main() -> None:
        async with marid.open_app(root=project, home=tmp_path / "home") as app:
            tree = await app.call("get_tree", path=".", max_depth=2)
            assert tree.ok
            assert "a.py" in tree.text
            assert "read_file" in app.tools
            found: dict[int, str] = {}

            async def read(number: int) -> None:
                found[number] = (await app.call("read_file", path="src/a.py")).text

            async with anyio.create_task_group() as group:
                for number in range(20):
                    group.start_soon(read, number)
            assert set(found.values()) == {"x = 1\n"}
            failed, good = await app.call_all([("read_file", {"path": "gone"}), ("read_file", {"path": "src/a.py"})])
            assert (failed.ok, good.ok) == (False, True)
            assert str(failed).startswith("ERROR: ")

    anyio.run(main)


def test_what_writes_needs_a_grant_or_somebody_to_ask(project: Path, tmp_path: Path) -> None:
    asked: list[Question] = []

    class Person:
        async def ask(self, question: Question) -> ApprovalAnswer:
            asked.append(question)
            return ApprovalAnswer.YES

    async def write(**options: object) -> bool:
        async with marid.open_app(project, home=tmp_path / "home", **options) as app:  # pyright: ignore[reportArgumentType]
            return (await app.call("write_file", path="new.txt", content="x")).ok

    async def main() -> None:
        assert not await write()
        assert await write(allow="write")
        (project / "new.txt").unlink()
        assert await write(asker=Person())
        assert not await write(allow=["write"], read_only=True)

    anyio.run(main)
    assert "+x" in asked[0].text


def test_a_root_that_is_not_there_is_told(tmp_path: Path) -> None:
    async def main() -> None:
        async with marid.open_app(tmp_path / "nowhere"):
            pass

    with pytest.raises(NotFound):
        anyio.run(main)


def test_the_package_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'close_app'"):
        getattr(marid, "close_app")  # noqa: B009 - the type checker knows that there is none
