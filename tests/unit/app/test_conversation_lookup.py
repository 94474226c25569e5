from pathlib import Path

import pytest

from fakes.real_app import add_messages, real_scope
from marid.app.conversations import conversation_exists
from marid.core.errors import BadInput, NotFound


def test_only_the_one_that_may_be_unused_need_not_be_there(tmp_path: Path) -> None:
    scope = real_scope(tmp_path)
    assert not conversation_exists(scope, "a", unused="a")
    with pytest.raises(NotFound, match="'b'"):
        conversation_exists(scope, "b", unused="a")
    add_messages(scope, "b", "x")
    assert conversation_exists(scope, "b")


def test_what_is_no_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        conversation_exists(real_scope(tmp_path), "a/b", unused="a/b")
