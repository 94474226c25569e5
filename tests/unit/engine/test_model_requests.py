import pytest

from marid.core.conversation.entry import MESSAGE, Entry
from marid.core.errors import Exhausted
from marid.core.model_io import ToolOffer
from marid.core.round_events import WindowWarning
from marid.engine.model_requests import WINDOW_LOOKUP_TOKENS, RequestBuilder, WindowLimits
from marid.engine.turns import UserTurn

TURNS = [UserTurn(entry=Entry(entry_type=MESSAGE, content="x" * 400))]


def builder(limit: int) -> RequestBuilder:
    return RequestBuilder(WindowLimits(model="m", limit=limit), (), {"seed": 1})


def test_a_window_that_is_nearly_full_is_told_once() -> None:
    nearly_full = builder(125)
    warnings = [nearly_full.build_request("", TURNS)[1] for _ in range(2)]
    assert warnings == [WindowWarning(25, 125), None]
    assert builder(126).build_request("", TURNS)[1] is None


def test_where_the_tools_fill_the_window_that_is_said() -> None:
    tools = (ToolOffer(name="t", description="x" * 400, schema={}),)
    requests = RequestBuilder(WindowLimits(model="m", limit=150), tools, {})
    with pytest.raises(Exhausted, match=r"The tools alone are 101: the settings `tools`"):
        requests.build_request("", TURNS)


def test_a_limit_that_a_person_has_set_is_for_what_is_said() -> None:
    tools = (ToolOffer(name="t", description="x" * 1000, schema={}),)
    requests = RequestBuilder(WindowLimits(model="m", user_limit=101), tools, {})
    assert requests.build_request("s" * 1000, TURNS)[0].tools == tools
    with pytest.raises(Exhausted, match="context_window_limit is 101"):
        requests.build_request("", [*TURNS, *TURNS])


def test_a_models_own_window_counts_beside_a_persons_limit() -> None:
    tools = (ToolOffer(name="t", description="x" * 1000, schema={}),)
    requests = RequestBuilder(WindowLimits(model="m", limit=300, user_limit=1000), tools, {})
    with pytest.raises(Exhausted, match="'m' takes 300"):
        requests.build_request("", TURNS)


def test_how_much_a_model_takes_in_is_asked_for_once_and_only_where_it_may_matter() -> None:
    long = [UserTurn(entry=Entry(entry_type=MESSAGE, content="x" * 4 * WINDOW_LOOKUP_TOKENS))]
    requests = builder(0)
    assert not requests.needs_window(TURNS)
    assert requests.needs_window(long)
    requests.set_window(WINDOW_LOOKUP_TOKENS)
    assert not requests.needs_window(long)
    with pytest.raises(Exhausted, match="'m' takes 1,000"):
        requests.build_request("", long)
    assert not builder(1).needs_window(long)
    assert not RequestBuilder(WindowLimits(model="m", user_limit=9), (), {}).needs_window(long)
