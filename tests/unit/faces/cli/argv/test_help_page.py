from marid.faces.cli.argv.help_page import help_page
from marid.faces.flags import FLAGS

SOME = {"say": "Say something.", "log": "Show what was said."}


def test_every_flag_and_every_command_is_on_the_page() -> None:
    shown = help_page(SOME, width=100)
    assert [flag.usage for flag in FLAGS if f"  {flag.usage}" not in shown] == []
    assert "Commands:\n  say  " in shown
    assert "Show what was said." in shown


def test_no_line_is_wider_than_it_may_be() -> None:
    for width in (60, 80, 100):
        flags = help_page(SOME, width=width).partition("Which conversation")[2].partition("`marid")[0]
        assert [line for line in flags.splitlines() if len(line) > width and not line.endswith(":")] == []


def test_a_flag_that_is_too_long_has_a_line_of_its_own() -> None:
    lines = help_page(SOME, width=80).splitlines()
    at = lines.index("  -M, --set-model-for-context NAME MODEL")
    assert lines[at + 1].strip() == "The same for another one."


def test_another_name_is_used_where_the_program_has_one() -> None:
    assert help_page(SOME, "chibi", 80).startswith("Usage: chibi ")
