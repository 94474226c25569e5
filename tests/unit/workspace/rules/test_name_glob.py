import re

import pytest

from marid.workspace.rules.name_glob import ANY_NAME, NameGlob, parse_glob, split_pattern


def fits(pattern: str, name: str) -> bool:
    glob = parse_glob(pattern)
    if glob is None:
        return False
    if glob.name is not None:
        return name == glob.name
    if glob.suffix is not None:
        return name.endswith(glob.suffix)
    assert glob.regex is not None
    return re.fullmatch(glob.regex, name, re.DOTALL) is not None


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("a.py", ["a.py"], ["a.pyc", "ba.py", "A.py"]),
        ("*.py", ["a.py", ".py", "a.b.py"], ["a.pyc", "py"]),
        ("*", ["a", "a\nb", ""], []),
        ("***", ["a", "abc"], []),
        ("a*", ["a", "ab", "a\n"], ["ba"]),
        ("*~", ["a~", "~"], ["~a"]),
        ("*.log.*", ["a.log.1", ".log."], ["a.log", "log.1"]),
        ("a*b*c*d", ["abcd", "aXbXcXd", "abbccd", "abcdd"], ["abdc", "acbd", "abcde"]),
        ("*a*a*a*", ["aaa", "xaxaxax"], ["aa", "xaxax"]),
        ("*.tar.gz", ["a.tar.gz"], ["a.gz", "a.tar_gz"]),
        ("?", ["a", "\n"], ["", "ab"]),
        ("a?c", ["abc", "a?c"], ["ac", "abbc"]),
        ("[ab]", ["a", "b"], ["c", "ab", "[ab]"]),
        ("[!ab]", ["c", "!"], ["a", "b", ""]),
        ("[^ab]", ["c", "^"], ["a", "b"]),
        ("[a-c]", ["a", "b", "c"], ["d", "-"]),
        ("[a-]", ["a", "-"], ["b"]),
        ("[-a]", ["a", "-"], ["b"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("[!]a]", ["b"], ["]", "a"]),
        ("[c-a]", ["c"], ["a", "b"]),  # as in git: the first counts by itself
        ("[!c-a]", ["a", "b"], ["c"]),
        ("[a-c-e]", ["b", "-", "e"], ["d"]),
        ("[+--]", ["+", ",", "-"], ["."]),
        (r"[\]a]", ["]", "a"], ["\\"]),
        (r"[a-\d]", ["b", "d"], ["\\", "e"]),
        (r"[\a-c]", ["b"], ["\\"]),
        ("[[:digit:]x]", ["7", "x"], ["a", ":"]),
        ("[![:digit:]]", ["a"], ["7"]),
        ("[[:upper:][:digit:]]", ["A", "1"], ["a"]),
        ("[[:alpha:]-z]", ["a", "-", "z"], ["1"]),
        ("[[:space:]]", [" ", "\t", "\n", "\r"], ["\v", "\f", "a"]),
        ("[[:punct:]]", list("!/:@[`{~-]\\^"), ["a", " "]),
        ("[[:cntrl:]]", ["\x01", "\x7f"], ["a"]),
        ("[[:a]", ["[", ":", "a"], ["b"]),  # no class: its members are plain
        ("[[:-z]", ["[", ":", "a", "z"], ["-"]),
        ("[a-[:b]", [":", "b", "a"], ["Z", "-"]),
        ("[[:]", ["[", ":"], ["]"]),
        ("[a/b]", ["a", "b", "/"], ["c"]),
        (r"\*", ["*"], ["a", "\\*"]),
        (r"\[a]", ["[a]"], ["a"]),
        (r"\a\b", ["ab"], ["\\a\\b"]),
        (r"a\\b", [r"a\b"], [r"a\\b"]),
        (r"*\?", ["a?", "?"], ["ab"]),
        ("a.b+(c)", ["a.b+(c)"], ["aXb+(c)"]),
        ("[.+]x*", [".x", "+xy"], ["ax"]),
    ],
)
def test_a_pattern_matches_the_names_that_git_matches(pattern: str, matching: list[str], others: list[str]) -> None:
    assert [name for name in matching if not fits(pattern, name)] == []
    assert [name for name in others if fits(pattern, name)] == []


@pytest.mark.parametrize(
    "pattern", ["", "a\\", "[", "[a", "[!", "[]", "[a-", "[\\", "[a-\\", "[[:foo:]]", "[[:alpha:", "*[a"]
)
def test_a_pattern_that_ends_in_the_middle_of_something_matches_nothing(pattern: str) -> None:
    assert parse_glob(pattern) is None


def test_the_cheapest_way_to_match_is_chosen() -> None:
    assert parse_glob("README.md") == NameGlob(name="README.md")
    assert parse_glob(r"\#a") == NameGlob(name="#a")
    assert parse_glob("*.py") == NameGlob(suffix=".py")
    assert parse_glob("*.p?") == NameGlob(regex=r".*\.p.", per_character=True, hint=".p")
    assert parse_glob("*.") == NameGlob(regex=r".*\.", hint=".")
    assert parse_glob("**") == ANY_NAME


@pytest.mark.parametrize(
    ("pattern", "counting"),
    [("a*", False), ("[ab]*", False), ("?", True), ("[!a]", True), ("[é]", True), ("é*", False)],
)
def test_it_is_known_whether_a_pattern_counts_characters(pattern: str, counting: bool) -> None:
    glob = parse_glob(pattern)
    assert glob is not None
    assert glob.per_character is counting


def test_only_a_whole_name_is_no_wildcard() -> None:
    assert not NameGlob(name="a").is_wild
    assert NameGlob(suffix=".py").is_wild
    assert ANY_NAME.is_wild


@pytest.mark.parametrize("pattern", ["*a" * 60 + "b", "*a?" * 60 + "b", "*[ab]" * 120 + "c", "a*" * 100 + "b"])
def test_many_stars_do_not_take_forever(pattern: str) -> None:
    assert not fits(pattern, "a" * 250)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("a", [("a", False)]),
        ("a/b", [("a", False), ("b", False)]),
        ("/a/", [("", False), ("a", False), ("", False)]),
        (r"a\/b", [("a", True), ("b", False)]),
        (r"a\b/c", [(r"a\b", False), ("c", False)]),
        ("a[b/c]d/e", [("a[b/c]d", False), ("e", False)]),
        ("a[b/c", []),
        ("a\\", [("a\\", False)]),
        ("", [("", False)]),
    ],
)
def test_a_pattern_is_cut_at_its_slashes_but_not_inside_brackets(text: str, parts: list[tuple[str, bool]]) -> None:
    assert split_pattern(text) == parts


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("*~", "~"),
        (".env.*", ".env."),
        ("*.log.*", ".log."),
        ("a*bcd?e", "bcd"),
        ("*", ""),
        ("[ab]?", ""),
        ("é*", ""),
        (r"\**x", "*"),
    ],
)
def test_every_name_that_matches_holds_the_hint(pattern: str, hint: str) -> None:
    found = parse_glob(pattern)
    assert found is not None
    assert found.hint == hint
