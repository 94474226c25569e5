import pytest

from marid.core.errors import BadInput
from marid.syntax.python.edit.indentation import IndentSteps, detect_steps, parse_code, reindent
from marid.syntax.python.source import read_source

FOUR, TWO, TABS = ("    ",), ("  ",), ("\t",)


def fit(content: str, base: str = "", into: IndentSteps = FOUR) -> str:
    return reindent(parse_code(content, base, into), base, into)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("def f():\n  if x:\n    y\n", "  "),
        ("class A:\n\tdef f(self):\n\t\tpass\n", "\t"),
        ("if x:\n    a\nelse:\n    b\nfor x in y:\n  c\nwhile x:\n    d\n", "    "),
        ("def f(): pass\nx = 1\n", None),
    ],
)
def test_the_unit_of_a_file_is_what_most_blocks_use(text: str, unit: str | None) -> None:
    source = read_source(text.encode())
    assert detect_steps(source, source.tree)[:1] == ((unit,) if unit else ())


CONTENT = "def f():\n    # note\n    if x:\n        return 1\n    # end"


@pytest.mark.parametrize(
    ("base", "into", "result"),
    [
        ("", FOUR, CONTENT),
        ("", TWO, "def f():\n  # note\n  if x:\n    return 1\n  # end"),
        ("", TABS, "def f():\n\t# note\n\tif x:\n\t\treturn 1\n\t# end"),
        ("\t", TABS, "\tdef f():\n\t\t# note\n\t\tif x:\n\t\t\treturn 1\n\t\t# end"),
        ("  ", FOUR, "  def f():\n      # note\n      if x:\n          return 1\n      # end"),
        ("    ", (), "    def f():\n        # note\n        if x:\n            return 1\n        # end"),
    ],
)
def test_code_takes_the_style_of_the_place_it_lands_at(base: str, into: IndentSteps, result: str) -> None:
    assert fit(CONTENT, base, into) == result


@pytest.mark.parametrize(
    ("content", "base", "into", "result"),
    [
        # Tabs become the spaces of the file, also in continuation rows.
        ("def f(\n\t\ta):\n\treturn (\n\t\ta)", "", TWO, "def f(\n    a):\n  return (\n    a)"),
        # Indented code moves to its place.
        ("        def f():\n            pass", "    ", FOUR, "    def f():\n        pass"),
        ("    @x\n    def f():\n        pass", "", FOUR, "@x\ndef f():\n    pass"),
        # The first line may have lost its indentation.
        ("@x\n    def f():\n        pass", "    ", FOUR, "    @x\n    def f():\n        pass"),
        ("def f():\n        if x:\n            y", "    ", FOUR, "    def f():\n        if x:\n            y"),
        # Blank lines around new code are dropped, those inside are kept.
        ("\n  \ndef f():\n\n    pass\n\n\n", "    ", FOUR, "    def f():\n\n        pass"),
        # Continuation rows keep their distance.
        ("x = f(a,\n      b)\ny = \\\n    2", "    ", FOUR, "    x = f(a,\n          b)\n    y = \\\n        2"),
        ("    x = f(\n  a)", "", FOUR, "x = f(\na)"),
        # A comment between two levels stays between them.
        ("if x:\n      # odd\n    y", "", TWO, "if x:\n      # odd\n  y"),
        ("    if x:\n        y\n # left", "", FOUR, "if x:\n    y\n# left"),
        ("    # note\ndef f(): pass", "  ", FOUR, "      # note\n  def f(): pass"),
        # Irregular steps stay if the usual one is that of the file, unless tabs and spaces cannot be compared.
        ("if w:\n    if x:\n        if y:\n          z", "", FOUR, "if w:\n    if x:\n        if y:\n          z"),
        ("if a:\n \tif b:\n\t  c", "", FOUR, "if a:\n    if b:\n        c"),
        # A docstring of two strings, or not indented with its code, stays; so does a row after an escaped line ending.
        ('def f():\n    "a" """b\n    c"""', "    ", FOUR, '    def f():\n        "a" """b\n    c"""'),
        ('def f():\n    """A\nb\n    """', "    ", FOUR, '    def f():\n        """A\nb\n    """'),
        (
            'def f():\n    """\\\n    A\n    b\\\n    c"""',
            "    ",
            FOUR,
            '    def f():\n        """\\\n        A\n        b\\\n    c"""',
        ),
    ],
)
def test_code_is_moved_to_its_place(content: str, base: str, into: IndentSteps, result: str) -> None:
    assert fit(content, base, into) == result


def test_text_inside_strings_stays_where_it_is() -> None:
    content = 'def f():\n    x = """\n  a\n    b"""\n    y = \'c\\\n    d\'\n    return f"""{x}\n    z"""'
    assert fit(content, "    ") == (
        '    def f():\n        x = """\n  a\n    b"""\n        y = \'c\\\n    d\'\n        return f"""{x}\n    z"""'
    )


def test_a_docstring_follows_its_code() -> None:
    content = 'def f():\n    """A\n\n      b\n    """\n    class C:\n        r"""D\\\n        e"""'
    assert fit(content, "  ", TWO) == (
        '  def f():\n    """A\n\n      b\n    """\n    class C:\n      r"""D\\\n      e"""'
    )


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "the new code is empty"),
        (" \n\n", "the new code is empty"),
        ("def f(:\n    pass", "line 1 of the new code"),
        ("\n\ndef f():\n    x y", "line 4 of the new code"),
        ("    def f():\n        x y", "line 2 of the new code"),
        ("    def f(): pass\ndef g(): pass", "line 1 of the new code: its lines do not share"),
        ("x = '\0'", "line 1 of the new code"),
        ('"""', "line 1 of the new code"),
    ],
)
def test_code_that_does_not_parse_is_an_error_with_its_own_line(content: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        fit(content)
