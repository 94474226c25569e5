import os
from pathlib import Path

import pytest

from fakes.program import Program


@pytest.mark.parametrize(
    "args",
    [
        *(
            ["say", "-C", "", "hello"],
            ["resume", ""],
            ["inbox", ""],
            ["inbox", "a", ""],
            ["log", ""],
            ["log", "-f", ""],
        ),
        *(
            ["clear", ""],
            ["export", ""],
            ["inspect", "", "fuel"],
            ["inspect", "-C", "", "fuel"],
            ["config", "show", "-C", ""],
        ),
        *(["set", "-C", "", "fuel", "3"], ["conversations", "show", ""], ["conversations", "switch", ""]),
        *(["conversations", "rename", "", "b"], ["conversations", "rename", "a", ""], ["conversations", "archive", ""]),
        *(["conversations", "restore", ""], ["conversations", "destroy", "", "--yes"]),
        *(["conversations", "expire", "", "--at", "5"],),
    ],
)
def test_a_name_that_is_written_and_empty_means_no_conversation(marid: Program, args: list[str]) -> None:
    told = marid(*args)
    assert (told.code, told.out) == (2, b"")
    assert "'' cannot be the name of a conversation: it is empty" in told.err
    assert not Path(os.environ["MARID_HOME"]).exists()


def test_a_name_that_is_left_out_means_the_current_one(marid: Program) -> None:
    assert "nothing was said in 'default' yet" in marid("log").err
    assert marid("conversations", "show").code == 0
    assert "nothing was said in 'work' yet" in marid("-C", "work", "log").err + marid("-C", "work", "-g0").err
