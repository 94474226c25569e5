import io

import pytest

from fakes.pipe import Pipe
from marid.app.tool_access import ToolAccess
from marid.core.errors import NotFound
from marid.faces.pipe.json_command import make_session
from marid.faces.pipe.json_lines import JsonLineWriter
from marid.faces.pipe.json_request import parse_request
from marid.faces.pipe.session import JsonSession


def session(pipe: Pipe, **fields: str) -> JsonSession:
    request = parse_request({"command": {"archive_history": fields}, "context": "here"})
    return make_session(pipe.scope, request, ToolAccess(), JsonLineWriter(io.BytesIO(), io.BytesIO()))


def test_only_the_conversation_of_the_request_need_not_be_there(pipe: Pipe) -> None:
    assert (
        session(pipe).existing_conversation("name")
        == session(pipe, name="here").existing_conversation("name")
        == "here"
    )
    with pytest.raises(NotFound, match="'gone'"):
        session(pipe, name="gone").existing_conversation("name")


def test_a_round_has_the_conditions_of_the_request(pipe: Pipe) -> None:
    saying = session(pipe).round_request("hello", "there")
    assert (saying.prompt, saying.conversation, session(pipe).scope.caller.face) == ("hello", "there", "json")
