"""Ignore files decide as git decides: on every odd pattern we know, and on random repositories."""

import os
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes.trees import listed_by_git, paths_of, plant, plant_repository, scratch
from marid.workspace.rules.ignore_files import UserGitFiles
from marid.workspace.walk import SelectionRules, Walker

# Few names, and patterns made of their letters, so that they meet.
NAMES = [
    *("a", "b", "ab", "ba", "abc", "A", "-", "~", "a-c", "ab.c", "a.c", "c.log", ".h"),
    *("a b", "a ", " a", "a\t", "a\nb", "[a]", "[", "]", "!a", "#a", "a\\b", "\\", "*", "a?"),
    *("ä", "a\u0308", "é", "日本", "a\udcff", "\udce4"),
]
TOKENS = [
    *("a", "a", "a", "b", "b", "c", "A", ".", "-", "~", " ", "\t", "#", "!", "\r", "\0", ".c", "*.c", "*.log"),
    *("*", "*", "*", "**", "**", "***", "?", "/", "/", "/", "/", "**/", "/**", "/**/"),
    *("\\", "\\\\", "\\*", "\\ ", "\\#", "\\!", "\\/", "\\a", "[", "]", "[ab]", "[!a]", "[^a]", "[a-c]", "[c-a]"),
    *("[]a]", "[!]]", "[a-]", "[\\]a]", "[a/b]", "[[:alpha:]]", "[![:alpha:]]", "[[:upper:]b]", "[[:space:]]"),
    *("[[:punct:]]", "[[:foo:]]"),
    *("[[:a]", "[a-[:b:]]", "[ä]", "[é-ä]", "[!ä]", "[a-ä]", "ä", "é", "\udcff", "日"),
]


def rule_text(mark: str, rules: list[str], end: str) -> str:
    return mark + "\n".join(rules) + end


path: st.SearchStrategy[str] = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)
pattern: st.SearchStrategy[str] = st.lists(st.sampled_from(TOKENS), min_size=1, max_size=6).map("".join)
kind = st.sampled_from(["{}", "{}", "!{}", "{}/", "/{}", "!{}/", "{}\r", "{} "])
line = st.one_of(path, pattern, st.builds(str.format, kind, path), st.builds(str.format, kind, pattern), st.just("#"))
text = st.builds(
    rule_text, st.sampled_from(["", "", "\ufeff"]), st.lists(line, max_size=5), st.sampled_from(["", "\n"])
)


@st.composite
def repositories(draw: st.DrawFn) -> dict[str, str]:
    """Paths and contents; among them are rule files, and `../excludes`, which the configuration names."""
    files: dict[str, str] = dict.fromkeys(draw(st.lists(path, min_size=1, max_size=10, unique=True)), "")
    folders = sorted({at.rpartition("/")[0] for at in files} | {""})
    for folder, rules in draw(st.lists(st.tuples(st.sampled_from(folders), text), max_size=3)):
        files[os.path.join(folder, ".gitignore")] = rules
    files[".git/info/exclude"] = draw(st.one_of(st.just(""), text))
    files["../excludes"] = draw(st.one_of(st.just(""), text))
    return without_clashes(files)


def without_clashes(files: dict[str, str]) -> dict[str, str]:
    """A name is a file or a folder, not both."""
    folders = {"/".join(at.split("/")[:depth]) for at in files for depth in range(1, at.count("/") + 1)}
    return {at: content for at, content in files.items() if at not in folders}


def check(files: dict[str, str], *, config: str = "", below: str = "") -> None:
    """`below` is the folder of the repository that is walked."""
    with scratch() as place:
        top = os.path.join(place, "top")
        plant_repository(top, config=f"\texcludesFile = ../excludes\n{config}")
        plant(top, files)
        target = os.path.join(top, below) if below else top
        walked = Walker(target, SelectionRules(defaults=False, user_git_files=UserGitFiles(home=place)), fail).walk()
        ours = {at for at in paths_of(walked) if not at.startswith(".git/")}
        assert ours == set(listed_by_git(target, place))


def fail(at: str, reason: str) -> None:
    raise AssertionError((at, reason))


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(repositories())
def test_a_walk_selects_what_git_does_not_ignore(files: dict[str, str]) -> None:
    check(files)


@pytest.mark.soak
@settings(max_examples=8_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(repositories())
def test_many_walks_select_what_git_does_not_ignore(files: dict[str, str]) -> None:
    check(files)


def in_cells(texts: list[str], names: list[str]) -> dict[str, str]:
    """Each text as the rules of a folder of its own, all with the same files in them: one run of git judges all."""
    tree = dict.fromkeys(names, "")
    return {
        f"{number}/{at}": rules
        for number, one in enumerate(texts)
        for at, rules in (tree | {".gitignore": one}).items()
    }


ODD = r"""a|*|**|***|/a|a/|/a/|/|//|!|!/|a//|//a|a//b|/**|**/|/**/|**/a|**/**/a|a/**|a/**/|a/**/b|a/**/**/b|a/***/b|*/b
*/*|?/?|a/*|a/*/|*/**|**/*|**/*/b|a/**/*/b|a**|a/**b|a/b**|ab**/c|ab**|a**/b|a**/**/b|a**/**|a/a**/b|a**/|a**/b/c
[a]**/b|?**/b|\a**/b|b**/*|a\/b|\/a|/\/a|a/**\/b|a**\/b|a**/**\/b|**\/a|a\|a/b\|\\|a\\b|\a|\a\b|\*|\[a]|\#a|\!a|#a|a#
!a|!!a|a!|a |a\ |a\  |a\\ | a|[a|[|]|[]|[!|[!]|[]a]|[!]a]|[^]a]|[a-]|[-a]|[a-c]|[c-a]|[!c-a]|[a-c-e]|[--a]|[\]a]
[\a-c]|[a-\c]|[a\|[!a]|[^a]|[a]b|[a/b]|[a/b]c|a[/]b|[[:alpha:]]|[![:alpha:]]|[[:upper:]]|[[:lower:]b]|[[:digit:]]
[[:space:]]|[[:blank:]]|[[:punct:]]|[[:foo:]]|[[:a]|[[:a:]|[[:]|[[:]]|[[:-b]|[[:alpha:]-z]|[a-[:b:]]|[[:alpha:
[a[:alpha:]|[[:alpha:][:digit:]]|[[:cntrl:]]|[[:print:]]|[[:graph:]]|[[:xdigit:]]|[[:alnum:]-]|*.c|*.?|ä|ä*|?ä|??|[ä]|[ä][ä]|[!ä]|[a-ä]|[é-ä]|[ä-a]|*ä|a?
日?|日??|日*|???|??????|*a*b*|*b*a|a*b*c|.*|*.*|?|??*|~|*~|-"""


def test_every_odd_pattern_matches_what_it_matches_in_git() -> None:
    patterns = [*(one for row in ODD.split("\n") for one in row.split("|")), "a\t", "a\\\t", "a\r", "a\r\r", "\ufeffa"]
    deep = ["a/b", "a/c/b", "a/c/c/b", "ab/c", "abc/c", "abx/y/c", "b/a", "c/a/b/x", "c/b/a"]
    check(in_cells(patterns, [*NAMES, "d/ab/c", "d/a/b", "d/b/a"]))
    check(in_cells(patterns, deep))


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(200))
def test_many_patterns_match_what_they_match_in_git(seed: int) -> None:
    rng = random.Random(seed)

    def rule() -> str:
        body = "".join(rng.choices(TOKENS, k=rng.randrange(1, 8)))
        return rng.choice(["{}", "{}", "!{}", "{}/", "/{}", "{} "]).format(body)

    names = ["/".join(rng.choices(NAMES, k=rng.randrange(1, 5))) for _ in range(25)]
    texts = ["\n".join(rule() for _ in range(rng.choice([1, 1, 1, 2, 3]))) for _ in range(150)]
    check(in_cells(texts, list(without_clashes(dict.fromkeys(names, "")))))


@pytest.mark.parametrize("below", ["src", "src/lib"])
def test_a_sub_folder_is_judged_by_the_rules_above_it_as_in_git(below: str) -> None:
    names = [
        f"{folder}{name}" for folder in ("", "src/", "src/lib/", "src/lib/deep/") for name in ("a", "b", "c", "d", "e")
    ]
    rules = {
        ".gitignore": "a\n/src/lib/b\n",
        "src/.gitignore": "lib/c\n!lib/a\n",
        ".git/info/exclude": "src/lib/d\n",
        "../excludes": "e\n!src/lib/e\n",
    }
    check(dict.fromkeys(names, "") | rules, below=below)


def test_case_is_ignored_as_in_git_where_the_repository_says_so() -> None:
    texts = ["readme", "*.TXT", "SRC/", "src/A", "[a-b]*", "[[:upper:]]x", "É", "e\u0301*", "!A", "*b*c", "Src/**/z"]
    names = ["README", "Readme.txt", "x.TxT", "Src/a", "Src/q/Z", "Bc", "Ax", "é", "É", "E\u0301x", "xBxC", "\u212a"]
    check(in_cells(texts, names), config="\tignoreCase = true\n")


def test_a_rule_file_may_hold_anything() -> None:
    hostile = [
        "\x00\x01\x02",
        "\udcff\udcfe*\n",
        "a\0b",
        "*\0",
        "\r",
        "\r\n",
        "\n\n",
        "\ufeff\ufeffa",
        "a\r\r",
        "[" * 5000,
        "*a" * 500,
        "\\" * 999,
    ]
    check(in_cells(hostile, NAMES))
