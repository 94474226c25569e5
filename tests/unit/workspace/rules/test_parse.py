import pytest

from marid.workspace.rules.name_glob import ANY_NAME, NameGlob
from marid.workspace.rules.parse import (
    PathRule,
    bytes_as_text,
    decode_rules,
    parse_contextfile,
    parse_gitignore,
    parse_inline,
)


def parts_of(rules: tuple[PathRule, ...]) -> list[tuple[NameGlob | None, ...]]:
    return [tuple(part and part._replace(hint="") for part in rule.parts) for rule in rules]


A, B, C = NameGlob(name="a"), NameGlob(name="b"), NameGlob(name="c")


def test_the_exclamation_mark_excludes_in_context_rules_and_includes_in_ignore_rules() -> None:
    found = parse_contextfile("!*.log\nimportant.log\n")
    assert [(rule.include, rule.text, rule.line) for rule in found] == [
        (False, "!*.log", 1),
        (True, "important.log", 2),
    ]
    found = parse_gitignore("*.log\n!important.log\n")
    assert [(rule.include, rule.text, rule.line) for rule in found] == [
        (False, "*.log", 1),
        (True, "!important.log", 2),
    ]


def test_comments_and_blank_lines_count_only_for_the_numbers_of_the_lines_after_them() -> None:
    text = "# one\n\n   \t\n  # four\na\n"
    assert [(rule.text, rule.line) for rule in parse_contextfile(text)] == [("a", 5)]
    assert [(rule.text, rule.line) for rule in parse_gitignore("# one\n\na\n")] == [("a", 3)]


def test_a_byte_order_mark_and_windows_line_ends_are_dropped() -> None:
    for parse in (parse_contextfile, parse_gitignore):
        assert parts_of(parse("\ufeffa\r\nb\r\n")) == [(None, A), (None, B)]


def test_blanks_around_a_context_rule_do_not_count_unless_a_backslash_keeps_one() -> None:
    assert parts_of(parse_inline(["  a \t", "! b ", "\tc\\  \r\n"])) == [
        (None, A),
        (None, B),
        (None, NameGlob(name="c ")),
    ]


@pytest.mark.parametrize(
    ("line", "name"),
    [("a  ", "a"), ("a\\ ", "a "), ("a\\  ", "a "), ("a\\\\ ", "a\\"), (" a", " a"), ("a\t", "a\t"), ("a\\ \r", "a ")],
)
def test_trailing_blanks_of_an_ignore_rule_are_dropped_as_git_drops_them(line: str, name: str) -> None:
    assert parts_of(parse_gitignore(line)) == [(None, NameGlob(name=name))]


def test_a_mark_behind_a_backslash_is_a_letter_and_a_zero_byte_ends_a_rule() -> None:
    assert parts_of(parse_gitignore("\\#a\n\\!a")) == [(None, NameGlob(name="#a")), (None, NameGlob(name="!a"))]
    assert parts_of(parse_inline(["\\#a", "\\!a"])) == [(None, NameGlob(name="#a")), (None, NameGlob(name="!a"))]
    assert parts_of(parse_gitignore("a\0b\n\0c")) == [(None, A)]


@pytest.mark.parametrize(
    ("pattern", "parts"),
    [
        ("a", (None, A)),
        ("a/", (None, A)),
        ("/a", (A,)),
        ("/a/", (A,)),
        ("a/b", (A, B)),
        ("**/a", (None, A)),
        ("**/**/a", (None, A)),
        ("/**/a", (None, A)),
        ("a/**", (A, None)),
        ("a/**/**", (A, None)),
        ("a/***/b", (A, None, B)),
        ("/**", (None,)),
        ("**", (None, ANY_NAME)),
        ("**/", (None, ANY_NAME)),
        ("a/**c/b", (A, NameGlob(regex=".*c"), B)),
        (r"a\/b", (A, B)),
        (r"a/**\/b", (A, ANY_NAME, None, B)),
        ("[a/b]c", (NameGlob(regex="[a/b]c"),)),
    ],
)
def test_a_pattern_becomes_components(pattern: str, parts: tuple[NameGlob | None, ...]) -> None:
    assert parts_of(parse_gitignore(pattern)) == [parts]
    assert parts_of(parse_inline([pattern])) == [parts]


@pytest.mark.parametrize(
    ("pattern", "ways"),
    [
        ("a/b**", [(A, NameGlob(regex="b.*"), None), (A, NameGlob(regex="b.*"))]),
        ("b**/c", [(NameGlob(name="bc"),), (NameGlob(regex="b.*"), None, C)]),
        ("b**/**/c", [(NameGlob(name="bc"),), (NameGlob(regex="b.*"), None, C)]),
        ("b**/**", [(NameGlob(regex="b.*"), None), (NameGlob(regex="b.*"),)]),
        (r"b**\/c", [(NameGlob(regex="b.*"), None, C)]),
        (r"b**/**\/c", [(NameGlob(regex="b.*"), None, C)]),
        ("b?**/c", [(NameGlob(regex="b..*", per_character=True), C)]),
    ],
)
def test_two_stars_behind_the_half_of_a_name_are_read_as_git_reads_them(
    pattern: str, ways: list[tuple[NameGlob | None, ...]]
) -> None:
    assert parts_of(parse_gitignore(pattern)) == ways


@pytest.mark.parametrize(
    "pattern", ["/", "//", "!", "!/", "a//", "a//b", "//a", "\\/a", "[a", "a\\", "a/[b", "a/b\\", "foo\\/"]
)
def test_a_pattern_that_can_match_nothing_makes_no_rule(pattern: str) -> None:
    assert parse_gitignore(pattern) == ()
    assert parse_inline([pattern]) == ()


def test_a_line_too_long_for_any_path_makes_no_rule() -> None:
    assert parse_gitignore("a" * 10_000) == parse_inline(["a" * 10_000]) == ()


def test_a_dot_and_a_slash_before_a_context_rule_tie_it_to_its_folder() -> None:
    assert parts_of(parse_inline(["./a", "!./a/b"])) == [(A,), (A, B)]


def test_a_trailing_slash_means_folders_only() -> None:
    assert [rule.folders_only for rule in parse_inline(["a/", "a", "!a/b/"])] == [True, False, True]


@pytest.mark.parametrize(
    ("pattern", "plain"),
    [
        ("a", True),
        ("a/b", True),
        ("/a", True),
        (r"\*", True),
        ("**/a", True),
        ("a*", False),
        ("a/**/b", False),
        ("?/b", False),
    ],
)
def test_a_rule_knows_whether_it_has_a_wildcard(pattern: str, plain: bool) -> None:
    (rule,) = parse_inline([pattern])
    assert rule.is_plain is plain


def test_letters_of_a_context_rule_are_composed_and_those_of_an_ignore_rule_stay() -> None:
    assert parts_of(parse_inline(["e\u0301"])) == [(None, NameGlob(name="é"))]
    assert parts_of(parse_gitignore("e\u0301")) == [(None, NameGlob(name="e\u0301"))]


def test_whole_names_and_suffixes_of_an_ignore_rule_are_text_and_its_regexes_are_about_bytes() -> None:
    assert parts_of(parse_gitignore("é\n*.é\né*\n\udcff\nx/**/é")) == [
        (None, NameGlob(name="é")),
        (None, NameGlob(suffix=".é")),
        (None, NameGlob(regex="Ã©.*")),
        (None, NameGlob(name="\udcff")),
        (NameGlob(name="x"), None, NameGlob(name="é")),
    ]


def test_bytes_that_are_no_utf_8_survive_reading() -> None:
    assert decode_rules(b"a\xff\xc3\xa9") == "a\udcffé"
    assert bytes_as_text("a\udcffé") == "a\xff\xc3\xa9"
    assert bytes_as_text("plain") == "plain"
