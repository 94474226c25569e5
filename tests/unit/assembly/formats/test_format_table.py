from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from fakes.context_formats import RULE, item, item_contents, projects, read_text
from marid.assembly.formats.format_table import TextFormat, format_mtime, make_renderer, missing_newline, pack
from marid.assembly.formats.json_format import JsonFormat
from marid.assembly.formats.markdown_format import MarkdownFormat
from marid.assembly.formats.xml_format import XmlFormat
from marid.assembly.items import ContextItem, Section, Tally
from marid.core.context import Level, OutputFormat


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        (OutputFormat.TEXT, TextFormat),
        (OutputFormat.MARKDOWN, MarkdownFormat),
        (OutputFormat.XML, XmlFormat),
        (OutputFormat.JSON, JsonFormat),
    ],
)
def test_every_form_has_its_renderer(form: OutputFormat, kind: type) -> None:
    assert isinstance(make_renderer(form), kind)


def test_a_renderer_is_new_for_every_run() -> None:
    assert make_renderer(OutputFormat.JSON) is not make_renderer(OutputFormat.JSON)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0, "1970-01-01 00:00:00"),
        (1_700_000_000.999, "2023-11-14 22:13:20"),
        (-0.5, "1969-12-31 23:59:59"),
        (2.0**40, "36812-02-20 00:36:16"),
    ],
)
def test_a_time_is_shown_in_utc_without_its_fraction(seconds: float, shown: str) -> None:
    assert format_mtime(seconds) == shown


@pytest.mark.parametrize("seconds", [2.0**60, -(2.0**62), 2.0**200])
def test_a_time_that_no_calendar_has_is_the_beginning_of_time(seconds: float) -> None:
    assert format_mtime(seconds) == "1970-01-01 00:00:00"


def test_a_newline_is_supplied_only_where_it_is_missing() -> None:
    assert [missing_newline(body) for body in (b"", b"a", b"a\n")] == [b"\n", b"\n", b""]


def test_a_name_line_cannot_be_forged() -> None:
    assert TextFormat().name(item("a\nb", b"12")) == b'"a\\nb" (2 bytes)\n'


def written(items: list[ContextItem], sections: tuple[Section, ...] = ()) -> bytes:
    return b"".join(piece for batch in pack(sections, items, TextFormat()) for piece in batch.buffers)


def test_files_have_a_header_a_rule_and_their_content() -> None:
    assert written([item("src/a.py", b"print()\n")]) == (
        b"File: src/a.py\nSize: 8 bytes\nLast Modified: 2023-11-14 22:13:20\n" + RULE + b"\n\nprint()\n"
    )
    head = b"Size: 1 bytes\nLast Modified: 2023-11-14 22:13:20\n" + RULE + b"\n\n"
    assert written([item("a", b"1"), item("b", b"\n")]) == (
        b"File: a\n" + head + b"1\n" + b"\n" + RULE + b"\n" + b"File: b\n" + head + b"\n"
    )
    assert written([item("a", b"")]).endswith(RULE + b"\n\n\n")
    assert written([]) == b""


def test_the_header_says_what_is_shown_of_a_file() -> None:
    assert b"Size: 9 bytes\nLast Modified: 2023-11-14 22:13:20\nContent: 4 bytes\n" in written([item("a", b"text", 5)])
    outline = item("a.py", b"1 def f()\n", 50)._replace(level=Level.OUTLINE)
    some = item("b.py", b"x\n", 50)._replace(spans=((3, 3), (7, 9)))
    text = written([outline, some]).decode()
    assert "Level: outline\nContent: 10 bytes\n" in text
    assert "Lines: 3-3, 7-9\nContent: 2 bytes\n" in text


def test_files_by_name_come_last_in_one_block() -> None:
    named = item("b\n.py", b"", 7)._replace(level=Level.NAME)
    text = written([named, item("a.py", b"x")])
    assert text.endswith(
        b'x\n\n%b\nBy name only: 1 files\nContent: 19 bytes\n%b\n\n"b\\n.py" (7 bytes)\n' % (RULE, RULE)
    )


def test_a_section_stands_before_the_files_with_its_size() -> None:
    text = written([item("a", b"1")], (Section("tree", "Tree", b"p/\n"), Section("git_log", "Git Log", b"x")))
    assert text.startswith(b"Tree\nContent: 3 bytes\n" + RULE + b"\n\np/\n\n" + RULE + b"\nGit Log\nContent: 1 bytes\n")
    assert b"\n\nx\n\n" + RULE + b"\nFile: a\n" in text


@settings(deadline=None)
@given(projects())
def test_who_trusts_the_sizes_gets_every_name_and_content_back(items: list[ContextItem]) -> None:
    assert read_text(written(items)) == item_contents(items)


def test_batches_are_limited_in_bytes_and_in_files() -> None:
    body = b"x" * 700_000
    batches = list(pack((), (item(str(n), body) for n in range(5)), TextFormat()))
    assert [sum(body in piece for piece in batch.buffers) for batch in batches] == [2, 2, 1]
    assert [batch.tally.files for batch in batches] == [2, 2, 1]
    batches = list(pack((), (item(str(n), b"x") for n in range(1000)), TextFormat()))
    assert len(batches) > 2
    assert all(len(batch.buffers) <= 1003 for batch in batches)


def test_each_batch_has_its_own_tally() -> None:
    items = [item(str(n), b"x" * 600_000)._replace(masked=n, tokens=n or None) for n in range(3)]
    items.append(item("a", b"", 7)._replace(level=Level.NAME))
    sections = [Section("git_log", "Log", b"x", masked=5)]
    assert [batch.tally for batch in pack(sections, items, TextFormat())] == [
        Tally(files=2, bytes=1_200_000, size=1_200_000, masked=6, tokens=1),
        Tally(files=2, bytes=600_000, size=600_007, masked=2, tokens=2),
    ]


def test_tallies_add_up() -> None:
    assert Tally(1, 2, 3, 4, 5, 6).plus(Tally(files=1, problems=1)) == Tally(2, 2, 3, 4, 5, 7)
    assert Tally(tokens=1).plus(Tally()).plus(Tally(tokens=2)).tokens == 3


def test_files_are_taken_only_as_they_are_asked_for() -> None:
    taken: list[str] = []

    def items() -> Iterator[ContextItem]:
        for name in "abc":
            taken.append(name)
            yield item(name, b"x" * 2_000_000)

    next(pack((), items(), TextFormat()))
    assert taken == ["a"]
