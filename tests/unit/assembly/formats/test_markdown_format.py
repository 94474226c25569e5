import pytest
from hypothesis import given, settings

from fakes.context_formats import item, projects, read_markdown
from marid.assembly.formats.format_table import missing_newline, pack
from marid.assembly.formats.markdown_format import MarkdownFormat
from marid.assembly.items import ContextItem, Section
from marid.core.context import Level


def written(items: list[ContextItem], sections: tuple[Section, ...] = ()) -> str:
    batches = pack(sections, items, MarkdownFormat())
    return b"".join(piece for batch in batches for piece in batch.buffers).decode()


def test_files_are_headings_and_fences_with_a_blank_line_between() -> None:
    assert written([item("src/a.py", b"print()")]) == "## `src/a.py`\n\n```python\nprint()\n```\n"
    assert "```\n\n## `b`\n" in written([item("a", b"x"), item("b", b"y")])


@pytest.mark.parametrize(("body", "fence"), [(b"``", "```"), (b"```", "````"), (b"x ````` y", "``````")])
def test_a_fence_is_longer_than_any_run_of_backticks_in_it(body: bytes, fence: str) -> None:
    text = written([item("a", body)])
    assert f"\n{fence}\n{body.decode()}\n{fence}\n" in text


@pytest.mark.parametrize(
    ("path", "shown"),
    [("a`b", "`` a`b ``"), ("`", "`` ` ``"), (" a ", "`  a  `"), ("  ", "`  `"), ("a\nb", '`"a\\nb"`')],
)
def test_a_name_is_code_whatever_it_holds(path: str, shown: str) -> None:
    assert written([item(path, b"")]).startswith(f"## {shown}\n")


def test_an_outline_is_marked_and_not_in_the_file_s_language() -> None:
    outline = item("a.py", b"1 def f()\n")._replace(level=Level.OUTLINE)
    assert written([outline]) == "## `a.py` (outline)\n\n```\n1 def f()\n```\n"


def test_files_by_name_come_last_in_one_block() -> None:
    named = item("b", b"", 7)._replace(level=Level.NAME)
    assert written([named, item("a", b"x")]).endswith("\n## By name only\n\n```\nb (7 bytes)\n```\n")


def test_a_diff_is_fenced_as_one_and_no_files_are_no_output() -> None:
    assert written([], (Section("git_diff", "Git Diff: HEAD", b"+x\n", "diff"),)) == (
        "## Git Diff: HEAD\n\n```diff\n+x\n```\n"
    )
    assert written([]) == ""


@settings(deadline=None)
@given(projects())
def test_no_content_and_no_name_ends_its_fence_or_heading(items: list[ContextItem]) -> None:
    assert read_markdown(written(items).encode()) == [(one.path, one.body + missing_newline(one.body)) for one in items]
