import io

import pytest

from fakes.pipe import Pipe
from marid.app.reach import Reach
from marid.core.errors import NotFound
from marid.faces.pipe.command import session_of
from marid.faces.pipe.request import request_of
from marid.faces.pipe.session import Session
from marid.faces.pipe.wire import Wire


def session(pipe: Pipe, **fields: str) -> Session:
    request = request_of({"command": {"archive_history": fields}, "context": "here"})
    return session_of(pipe.app, request, Reach(), Wire(io.BytesIO(), io.BytesIO()))


def test_only_the_conversation_of_the_request_need_not_be_there(pipe: Pipe) -> None:
    assert session(pipe).existing("name") == session(pipe, name="here").existing("name") == "here"
    with pytest.raises(NotFound, match="'gone'"):
        session(pipe, name="gone").existing("name")


def test_a_round_has_the_conditions_of_the_request(pipe: Pipe) -> None:
    saying = session(pipe).saying("hello", "there")
    assert (saying.prompt, saying.conversation, saying.face) == ("hello", "there", "json")
