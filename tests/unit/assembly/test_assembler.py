import os
from pathlib import Path

from fakes.apps import AppFakes
from fakes.git import FakeRepository
from fakes.secrets import AWS_KEY, GITHUB_TOKEN
from fakes.trees import plant
from marid.assembly.assembler import Assembler, group_by_size
from marid.assembly.content_cache import ContentCache
from marid.assembly.views import make_sections
from marid.core.context import ContextRequest, FileSelection, Level, LevelRule, RenderOptions
from marid.core.events import ContextEvent, WalkProgress


def assembler(
    top: Path | str, *, shown: RenderOptions | None = None, outside: AppFakes | None = None, **more: str
) -> Assembler:
    request = ContextRequest(cwd=str(top), render=shown or RenderOptions(), **more)  # pyright: ignore[reportArgumentType]
    return Assembler(request, (outside or AppFakes()).context_ports(), lambda _: None)


def bodies(work: Assembler) -> dict[str, bytes]:
    return {item.path: item.body for item in work.items()}


def test_items_are_the_text_files_in_order_and_their_number_is_reported_once(tmp_path: Path) -> None:
    plant(tmp_path, {"b.py": "b", "a/x.py": "x", "c.bin": b"\0", "a.py": "a"})
    assert list(bodies(assembler(tmp_path)).items()) == [("a.py", b"a"), ("b.py", b"b"), ("a/x.py", b"x")]
    events: list[ContextEvent] = []
    work = Assembler(ContextRequest(cwd=str(tmp_path)), AppFakes().context_ports(), events.append)
    assert list(work.selection.paths()) == list(work.selection.paths()) == ["a.py", "b.py", "c.bin", "a/x.py"]
    assert events == [WalkProgress(files=4)]


def test_levels_of_the_user_are_followed(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "def a():\n    pass\n", "b.py": "b", "c.py": "c"})
    shown = RenderOptions(levels=(LevelRule("a.py", Level.OUTLINE), LevelRule("b.py", Level.NAME)))
    levels = [item.level for item in assembler(tmp_path, shown=shown).items()]
    assert levels == [Level.OUTLINE, Level.NAME, Level.FULL]


def test_output_and_lock_are_left_out_also_by_another_name(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "a", "out.txt": "old", "my.lock": "{}"})
    os.link(tmp_path / "out.txt", tmp_path / "hard.txt")
    work = assembler(tmp_path, output="out.txt", lock="./my.lock")
    assert [content.path for content in work.contents()] == ["a.py"]


def test_an_output_that_is_not_there_yet_hides_nothing(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "a"})
    assert list(bodies(assembler(tmp_path, output="new.txt"))) == ["a.py"]


def test_only_what_changed_since_a_revision_is_selected(tmp_path: Path) -> None:
    repository = FakeRepository()
    repository.commit("one", {"a.py": b"a", "b.py": b"b"})
    repository.files |= {"b.py": b"changed", "c.py": b"new"}
    plant(tmp_path, repository.files)
    request = ContextRequest(cwd=str(tmp_path), selection=FileSelection(changed_since="HEAD"))
    work = Assembler(request, AppFakes(repositories={str(tmp_path): repository}).context_ports(), lambda _: None)
    assert list(bodies(work)) == ["b.py", "c.py"]


def test_a_memory_spares_the_walk_and_the_disk(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "a"})
    memory = ContentCache()
    for _ in range(2):
        work = Assembler(ContextRequest(cwd=str(tmp_path)), AppFakes().context_ports(), lambda _: None, memory)
        assert bodies(work) == {"a.py": b"a"}
        plant(tmp_path, {"a.py": "changed", "b.py": "b"})


def test_tokens_are_counted_and_remembered_by_content(tmp_path: Path) -> None:
    plant(tmp_path, {"a.py": "one two three\n", "b.py": "one two three\n"})
    outside = AppFakes()
    for _ in range(2):
        work = assembler(tmp_path, outside=outside)
        assert [item.tokens for item in work.count_tokens(work.items())] == [4, 4]
    assert [number for _, number in outside.cache.puts] == [1]


def with_repository(top: Path, before: dict[str, str], after: dict[str, str]) -> AppFakes:
    repository = FakeRepository()
    repository.commit("one", {name: text.encode() for name, text in before.items()})
    repository.files |= {name: text.encode() for name, text in after.items()}
    plant(top, repository.files)
    return AppFakes(repositories={str(top): repository})


def test_sections_are_the_tree_the_log_and_the_diff(tmp_path: Path) -> None:
    outside = with_repository(tmp_path, {"src/a.py": "old\n"}, {"src/a.py": "new\n"})
    work = assembler(tmp_path, outside=outside, shown=RenderOptions(with_tree=True, log=3, diff=""))
    tree, log, diff = make_sections(work)
    assert (tree.kind, tree.title) == ("tree", "Tree")
    assert tree.body.decode() == f"{tmp_path.name}/\n└── src/\n    └── a.py\n"
    assert (log.kind, log.title) == ("git_log", "Git Log: last 3 commits")
    assert b"    one\n" in log.body
    assert (diff.kind, diff.title, diff.fence_language) == ("git_diff", "Git Diff: HEAD", "diff")
    assert b"-old\n+new\n" in diff.body


def test_a_diff_may_go_back_to_any_revision(tmp_path: Path) -> None:
    outside = with_repository(tmp_path, {"a.py": "1\n"}, {})
    outside.repositories[str(tmp_path)].commit("two", {"a.py": b"2\n"})
    (diff,) = make_sections(assembler(tmp_path, outside=outside, shown=RenderOptions(diff="HEAD~1")))
    assert (diff.title, b"-1\n+2\n" in diff.body) == ("Git Diff: HEAD~1", True)


def test_no_section_is_made_unasked(tmp_path: Path) -> None:
    assert list(make_sections(assembler(tmp_path))) == []


def test_secrets_in_what_git_tells_are_masked_and_counted(tmp_path: Path) -> None:
    outside = with_repository(tmp_path, {"a.py": ""}, {"a.py": GITHUB_TOKEN})
    outside.repositories[str(tmp_path)].commit(f"use {AWS_KEY}", {"b.py": b""})
    work = assembler(tmp_path, outside=outside, shown=RenderOptions(diff="HEAD~1", log=1))
    log, diff = make_sections(work)
    assert (AWS_KEY.encode() in log.body, GITHUB_TOKEN.encode() in diff.body, log.masked + diff.masked) == (
        False,
        False,
        2,
    )
    work = assembler(tmp_path, outside=outside, shown=RenderOptions(diff="HEAD~1", log=1, mask=False))
    log, diff = make_sections(work)
    assert (AWS_KEY.encode() in log.body, GITHUB_TOKEN.encode() in diff.body, log.masked + diff.masked) == (
        True,
        True,
        0,
    )


def test_groups_are_small_enough_to_keep() -> None:
    assert [len(group) for group in group_by_size(range(1200), lambda _: 1)] == [500, 500, 200]
    assert [len(group) for group in group_by_size(range(5), lambda _: 3 << 20)] == [2, 2, 1]
    assert list(group_by_size(range(0), lambda _: 1)) == []
