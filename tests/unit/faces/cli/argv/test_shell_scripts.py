import pytest

from marid.faces.cli.argv.shell_scripts import flag_prefix, join_split_words

_APART: list[tuple[list[str], str, tuple[list[str], str, str]]] = [
    (["-c"], "wo", (["-c"], "wo", "")),
    (["--switch-context", "="], "wo", ([], "--switch-context=wo", "--switch-context=")),
    (["--switch-context"], "=", ([], "--switch-context=", "--switch-context=")),
    (["-C", "new", ":"], "to", (["-C"], "new:to", "new:")),
    (["--home", "=", "/x", "-c"], "", (["--home=/x", "-c"], "", "")),
    (["-s", "a", "=", "b", "log"], "w", (["-s", "a=b", "log"], "w", "")),
    ([], "=", ([], "=", "=")),
    ([], "", ([], "", "")),
]


@pytest.mark.parametrize(("args", "incomplete", "found"), _APART)
def test_words_that_bash_took_apart_are_put_together(
    args: list[str], incomplete: str, found: tuple[list[str], str, str]
) -> None:
    assert join_split_words(args, incomplete) == found


def test_only_a_long_flag_has_its_value_attached_by_a_sign() -> None:
    assert flag_prefix("--home=/x=y") == "--home="
    assert [flag_prefix(word) for word in ("--home", "fuel=3", "-s", "", "a--b=c")] == [""] * 5
