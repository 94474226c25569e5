import pytest

from marid.core.conversation.entry import MESSAGE, Entry
from marid.core.errors import Exhausted
from marid.core.model_io import Parameters, ToolOffer
from marid.core.round_events import RoundEvent, WindowWarning
from marid.engine.model_requests import WINDOW_LOOKUP_TOKENS, RequestBuilder, WindowLimits
from marid.engine.turns import UserTurn

TURNS = [UserTurn(entry=Entry(entry_type=MESSAGE, content="x" * 400))]


def ask(heard: list[RoundEvent], limit: int, percent: float = 80.0) -> RequestBuilder:
    return RequestBuilder(
        WindowLimits(model="m", limit=limit, warn_percent=percent), (), Parameters(seed=1), heard.append
    )


def test_a_request_holds_what_an_answer_is_made_from() -> None:
    request = ask([], 0).build_request("Be brief.", TURNS)
    assert (request.model, request.system, request.parameters.seed) == ("m", "Be brief.", 1)
    assert request.messages[0].text == "x" * 400


def test_a_window_that_is_nearly_full_is_told_once() -> None:
    heard: list[RoundEvent] = []
    questioner = ask(heard, 125)
    questioner.build_request("", TURNS)
    questioner.build_request("", TURNS)
    assert heard == [WindowWarning(25, 125)]
    assert ask(heard, 126).build_request("", TURNS)
    assert len(heard) == 1


def test_a_full_window_says_what_would_help() -> None:
    with pytest.raises(Exhausted, match=r"about 100 tokens .* takes 100\. To clear .* new conversation, .* model"):
        ask([], 100).build_request("", TURNS)


def test_where_the_tools_fill_the_window_that_is_said() -> None:
    tools = (ToolOffer(name="t", description="x" * 400, schema={}),)
    questioner = RequestBuilder(WindowLimits(model="m", limit=150), tools, Parameters(), lambda what: None)
    with pytest.raises(Exhausted, match=r"The tools alone are 101: the settings `tools`"):
        questioner.build_request("", TURNS)


def test_a_limit_that_a_person_has_set_is_for_what_is_said() -> None:
    tools = (ToolOffer(name="t", description="x" * 1000, schema={}),)
    questioner = RequestBuilder(WindowLimits(model="m", user_limit=101), tools, Parameters(), lambda what: None)
    assert questioner.build_request("s" * 1000, TURNS).tools == tools
    with pytest.raises(Exhausted, match="context_window_limit is 101"):
        questioner.build_request("", [*TURNS, *TURNS])


def test_a_models_own_window_counts_beside_a_persons_limit() -> None:
    tools = (ToolOffer(name="t", description="x" * 1000, schema={}),)
    questioner = RequestBuilder(
        WindowLimits(model="m", limit=300, user_limit=1000), tools, Parameters(), lambda what: None
    )
    with pytest.raises(Exhausted, match="'m' takes 300"):
        questioner.build_request("", TURNS)


def test_how_much_a_model_takes_in_is_asked_for_once_and_only_where_it_may_matter() -> None:
    long = [UserTurn(entry=Entry(entry_type=MESSAGE, content="x" * 4 * WINDOW_LOOKUP_TOKENS))]
    questioner = ask([], 0)
    assert not questioner.needs_window(TURNS)
    assert questioner.needs_window(long)
    questioner.set_window(WINDOW_LOOKUP_TOKENS)
    assert not questioner.needs_window(long)
    with pytest.raises(Exhausted, match="'m' takes 1,000"):
        questioner.build_request("", long)
    assert not ask([], 1).needs_window(long)
    assert not RequestBuilder(WindowLimits(model="m", user_limit=9), (), Parameters(), lambda what: None).needs_window(
        long
    )
