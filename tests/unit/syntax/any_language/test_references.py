"""Words in code, and not in what is only said."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.errors import BadInput
from marid.syntax.any_language.references import code_references, target_identifier

SOURCES = {
    "python": "total = 1  # total\ns = 'total'\nt = f'{total} total'\nsubtotal = shop.total\n",
    "javascript": "let total = 1; // total\nlet s = 'total';\nlet t = `${total} total`;\nlet $total = shop.total;\n",
    "typescript": "let total = 1; // total\nlet s = 'total';\nlet t = `${total} total`;\nlet subtotal = shop.total;\n",
    "c": 'int total; // total\nchar *s = "total";\nint t = total;\nint subtotal = shop->total;\n',
    "cpp": 'int total; /* total */\nauto s = R"(total)";\nint t = total;\nint subtotal = shop.total;\n',
    "java": 'int total = 1; // total\nString s = "total";\nint t = total;\nint subtotal = shop.total;\n',
    "go": 'var total = 1 // total\nvar s = "total"\nvar t = total\nvar subtotal = shop.total\n',
    "rust": 'static total: u8 = 1; // total\nconst s: &str = "total";\nconst t: u8 = total;\nconst u: u8 = a.total;\n',
    "csharp": 'var total = 1; // total\nvar s = "total";\nvar t = $"{total} total";\nvar subtotal = shop.total;\n',
    "ruby": 'total = 1 # total\ns = "total"\nt = "#{total} total"\nsubtotal = shop.total\n',
    "php": '<?php $total = 1; // total\n$s = "total";\n$t = "{$total} total";\n$subtotal = $shop->total;\n',
    "bash": "total=1 # total\ns='total'\nt=\"$total total\"\nsubtotal=$total\n",
}  # fmt: skip


@pytest.mark.parametrize("language", SOURCES)
def test_comments_and_strings_do_not_count(language: str) -> None:
    found = code_references(SOURCES[language].encode(), language, "total")
    assert [each.line for each in found] == [1, 3, 4]


def test_references_have_the_text_of_the_line_and_mark_definitions() -> None:
    found = code_references(b"class A:\n    def total(self): return self.total()\n\nA().total()\n", "python", "total")
    assert [(each.line, each.text, each.is_definition) for each in found] == [
        (2, "def total(self): return self.total()", True),
        (4, "A().total()", False),
    ]


def test_definitions_in_c_are_marked() -> None:
    source = b"struct total { int a; };\nint f(struct total *t) { return t->a; }\nint A::total() { return 1; }\n"
    assert [each.is_definition for each in code_references(source, "cpp", "total")] == [True, False, True]


def test_macros_are_code_but_for_their_strings() -> None:
    source = b'#define A total(1)\n#define B "total" x\n#include "total"\n'
    assert [each.line for each in code_references(source, "c", "total")] == [1]


def test_a_word_is_whole_in_the_letters_of_its_language() -> None:
    assert code_references(b"$total(total$, atotal);\n", "javascript", "total") == ()
    assert code_references("tötal; totalé\n".encode(), "python", "total") == ()
    found = code_references(b"a.total?\nb.total!\nc.total\nd = total != 1\n", "ruby", "total")
    assert [each.line for each in found] == [3, 4]
    assert [each.line for each in code_references(b"a.total?\nc.total\n", "ruby", "total?")] == [1]


def test_long_lines_are_cut_around_the_word() -> None:
    found = code_references(b"x = [" + b"1, " * 2000 + b"total, " + b"2, " * 2000 + b"]\n", "python", "total")
    assert "total" in found[0].text
    assert len(found[0].text) <= 240


@pytest.mark.parametrize(
    ("name", "last"),
    [("total", "total"), ("Shop.total", "total"), ("a::Shop::total", "total"), ("$total", "total"), ("@x", "x"),
     ("Shop#total", "total"), ("a->b", "b"), (" total ", "total"), ("total?", "total?"), ("\\A\\B", "B"), ("ä", "ä")],
)  # fmt: skip
def test_the_last_part_of_a_name_is_looked_for(name: str, last: str) -> None:
    assert target_identifier(name) == last


@given(st.text(max_size=50))
def test_any_text_is_a_word_or_an_error(name: str) -> None:
    try:
        found = target_identifier(name)
    except BadInput:
        return
    assert code_references(f"{found}\n".encode(), "python", found) is not None
