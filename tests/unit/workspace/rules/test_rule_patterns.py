import pytest

from marid.workspace.rules.rule_patterns import RulePatterns

PATTERNS = RulePatterns(["*.py", "docs/", "src/**/test_*.py", "# comment", "README.md"])


@pytest.mark.parametrize(
    ("path", "number"),
    [
        ("a.py", 0),
        ("deep/a.py", 0),
        ("docs/a.txt", 1),
        ("docs/a.py", 1),
        ("src/x/test_a.py", 2),
        ("src/test_a.py", 2),
        ("test_a.py", 0),
        ("README.md", 4),
        ("docs", None),
        ("other.txt", None),
    ],
)
def test_the_last_pattern_that_matches_a_path_or_a_folder_above_it_is_named(path: str, number: int | None) -> None:
    assert PATTERNS.last_match(path) == number


def test_no_patterns_match_nothing() -> None:
    assert RulePatterns([]).last_match("a") is None
