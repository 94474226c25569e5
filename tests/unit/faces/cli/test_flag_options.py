from marid.faces.cli.flag_options import OFFERS, REACH, option_of
from marid.faces.flags import FLAGS, MODEL, NUMBER, SECONDS, TEXT
from marid.faces.reach import NAMES


def test_there_is_an_offer_for_every_kind_of_value_that_a_shell_can_know() -> None:
    kinds = {value.kind for flag in FLAGS for value in flag.values}
    assert kinds - {*OFFERS} == {TEXT, NUMBER, SECONDS, MODEL}


def test_what_tools_may_do_is_said_alike_everywhere() -> None:
    assert tuple(option.name for option in REACH) == NAMES
    assert option_of("allow").opts == ["--allow"]
