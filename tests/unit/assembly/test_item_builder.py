import pytest

from fakes.outlines import FakeOutlines
from fakes.secrets import AWS_KEY, PRIVATE_KEY
from marid.assembly.item_builder import ItemBuilder, LevelMatcher
from marid.assembly.items import AnchoredSymbol
from marid.assembly.symbols import build_symbols
from marid.core.context import Level, LevelRule, SymbolDetail
from marid.text.secrets.masker import Masker
from marid.workspace.read import Content


def content(path: str, text: str) -> Content:
    return Content(path, text.encode(), len(text.encode()) + 2, 7.0, "cp1252")


def shaper(*, mask: bool = True, line_numbers: bool = False) -> ItemBuilder:
    return ItemBuilder(Masker() if mask else None, FakeOutlines, line_numbers=line_numbers)


def test_a_file_in_full_is_its_bytes_and_its_facts() -> None:
    item = shaper().build(content("a.py", "x = 1\n"))
    assert (item.path, item.body, item.size, item.modified, item.encoding) == ("a.py", b"x = 1\n", 8, 7.0, "cp1252")
    assert (item.level, item.masked, item.tokens, item.spans) == (Level.FULL, 0, None, ())


def test_an_outline_is_asked_for_in_the_file_s_language() -> None:
    item = shaper().build(content("a.py", "def f():\n    pass\n"), Level.OUTLINE)
    assert (item.body, item.level) == (b"def f():", Level.OUTLINE)


def test_without_an_outline_a_file_is_shown_in_full_or_by_name() -> None:
    assert shaper().build(content("a.py", ""), Level.OUTLINE).level is Level.FULL
    item = shaper().build(content("a.txt", "text"), Level.OUTLINE)
    assert (item.body, item.level) == (b"", Level.NAME)
    assert shaper().build(content("a.py", AWS_KEY), Level.NAME) == shaper().build(
        content("a.py", ""), Level.NAME
    )._replace(size=len(AWS_KEY) + 2)


def test_secrets_are_masked_and_counted_at_every_level() -> None:
    for level in (Level.FULL, Level.OUTLINE):
        item = shaper().build(content("a.py", f"key = '{AWS_KEY}'\n"), level)
        assert (AWS_KEY.encode() in item.body, item.masked) == (False, 1)


def test_masking_can_be_turned_off() -> None:
    item = shaper(mask=False).build(content("a.py", AWS_KEY))
    assert (item.body, item.masked) == (AWS_KEY.encode(), 0)


def test_the_lines_of_a_file_are_numbered_and_those_of_an_outline_are_not() -> None:
    text = "".join(f"{n}\n" for n in range(1, 11))
    assert shaper(line_numbers=True).build(content("a", text)).body == (
        b" 1: 1\n 2: 2\n 3: 3\n 4: 4\n 5: 5\n 6: 6\n 7: 7\n 8: 8\n 9: 9\n10: 10\n"
    )
    assert shaper(line_numbers=True).build(content("a.py", "def f():\n"), Level.OUTLINE).body == b"def f():"


@pytest.mark.parametrize("end", ["", "\n"])
def test_numbers_are_right_after_a_secret_of_many_lines(end: str) -> None:
    text = f"first\nkey = '''\n{PRIVATE_KEY}'''\nlast{end}"
    lines = shaper(line_numbers=True).build(content("a", text)).body.decode().split("\n")
    last = PRIVATE_KEY.count("\n") + 4
    assert lines[:2] == [" 1: first", " 2: key = '''"]
    assert lines[2] == " 3: [masked:private-key]"
    assert lines[3 : last - 2] == [f"{number:2}: " for number in range(4, last - 1)]
    assert lines[last - 2 :] == [f"{last - 1}: '''", f"{last}: last", *([""] if end else [])]


def test_chosen_symbols_are_masked_before_their_lines_are_numbered() -> None:
    source = f"a = 1\n\n\ndef key():\n    return '''{PRIVATE_KEY}'''\n\n\nb = 2\n"
    chosen = (AnchoredSymbol("key", SymbolDetail.FULL), AnchoredSymbol("b", SymbolDetail.FULL))
    item = build_symbols(shaper(line_numbers=True), chosen, content("a.py", source))
    last = source.count("\n")
    assert item.body.decode().split("\n")[:2] == [" 4: def key():", " 5:     return '''[masked:private-key]"]
    assert item.body.decode().endswith(f"⋮\n{last}: b = 2\n")
    assert (item.masked, item.spans) == (1, ((4, last - 3), (last, last)))
    assert [line for line in PRIVATE_KEY.split("\n")[1:-2] if line in str(item.symbols)] == []


def test_chosen_symbols_need_no_numbers() -> None:
    item = build_symbols(shaper(), (AnchoredSymbol("b", SymbolDetail.FULL),), content("a.py", "a = 1\nb = 2\n"))
    assert (item.body, item.level) == (b"b = 2\n", Level.FULL)


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("a.py", 0),
        ("deep/a.py", 0),
        ("docs/a.txt", 1),
        ("docs/a.py", 1),
        ("src/x/test_a.py", 2),
        ("src/test_a.py", 2),
        ("README.md", 0),
        ("docs", None),
        ("other.txt", None),
    ],
)
def test_the_last_level_rule_that_matches_a_path_or_a_folder_above_it_wins(path: str, number: int | None) -> None:
    levels = (Level.OUTLINE, Level.NAME, Level.FULL)
    rules = [("*.py", 0), ("docs/", 1), ("src/**/test_*.py", 2), ("# comment", 1), ("README.md", 0)]
    matcher = LevelMatcher([LevelRule(pattern, levels[level]) for pattern, level in rules])
    assert matcher.level_of(path) == (None if number is None else levels[number])
