from marid.faces.access_flags import ACCESS_FLAGS
from marid.faces.cli.argv.shared_options import ACCESS_OPTIONS, COMPLETERS, option_with_completion
from marid.faces.flags import FLAGS, MODEL, NUMBER, SECONDS, TEXT


def test_there_is_an_offer_for_every_kind_of_value_that_a_shell_can_know() -> None:
    kinds = {value.kind for flag in FLAGS for value in flag.values}
    assert kinds - {*COMPLETERS} == {TEXT, NUMBER, SECONDS, MODEL}


def test_what_tools_may_do_is_said_alike_everywhere() -> None:
    assert tuple(option.name for option in ACCESS_OPTIONS) == ACCESS_FLAGS
    assert option_with_completion("allow").opts == ["--allow"]
