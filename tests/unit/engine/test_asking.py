import pytest

from marid.core.chat import Parameters, ToolOffer
from marid.core.entry import MESSAGE, Entry
from marid.core.errors import Exhausted
from marid.core.rounds import RoundHappening, WindowWarning
from marid.engine.asking import LONG, Questioner, Window
from marid.engine.turns import Said

TURNS = [Said(entry=Entry(entry_type=MESSAGE, content="x" * 400))]


def ask(heard: list[RoundHappening], limit: int, percent: float = 80.0) -> Questioner:
    return Questioner(Window(model="m", limit=limit, percent=percent), (), Parameters(seed=1), heard.append)


def test_a_request_holds_what_an_answer_is_made_from() -> None:
    request = ask([], 0).request("Be brief.", TURNS)
    assert (request.model, request.system, request.parameters.seed) == ("m", "Be brief.", 1)
    assert request.messages[0].text == "x" * 400


def test_a_window_that_is_nearly_full_is_told_once() -> None:
    heard: list[RoundHappening] = []
    questioner = ask(heard, 125)
    questioner.request("", TURNS)
    questioner.request("", TURNS)
    assert heard == [WindowWarning(25, 125)]
    assert ask(heard, 126).request("", TURNS)
    assert len(heard) == 1


def test_a_full_window_says_what_would_help() -> None:
    with pytest.raises(Exhausted, match=r"about 100 tokens .* takes 100\. To clear .* new conversation, .* model"):
        ask([], 100).request("", TURNS)


def test_where_the_tools_fill_the_window_that_is_said() -> None:
    tools = (ToolOffer(name="t", description="x" * 400, schema={}),)
    questioner = Questioner(Window(model="m", limit=150), tools, Parameters(), lambda what: None)
    with pytest.raises(Exhausted, match=r"The tools alone are 101: the settings `tools`"):
        questioner.request("", TURNS)


def test_a_limit_that_a_person_has_set_is_for_what_is_said() -> None:
    tools = (ToolOffer(name="t", description="x" * 1000, schema={}),)
    questioner = Questioner(Window(model="m", chosen=101), tools, Parameters(), lambda what: None)
    assert questioner.request("s" * 1000, TURNS).tools == tools
    with pytest.raises(Exhausted, match="context_window_limit is 101"):
        questioner.request("", [*TURNS, *TURNS])


def test_a_models_own_window_counts_beside_a_persons_limit() -> None:
    tools = (ToolOffer(name="t", description="x" * 1000, schema={}),)
    questioner = Questioner(Window(model="m", limit=300, chosen=1000), tools, Parameters(), lambda what: None)
    with pytest.raises(Exhausted, match="'m' takes 300"):
        questioner.request("", TURNS)


def test_how_much_a_model_takes_in_is_asked_for_once_and_only_where_it_may_matter() -> None:
    long = [Said(entry=Entry(entry_type=MESSAGE, content="x" * 4 * LONG))]
    questioner = ask([], 0)
    assert not questioner.wonders(TURNS)
    assert questioner.wonders(long)
    questioner.learn(LONG)
    assert not questioner.wonders(long)
    with pytest.raises(Exhausted, match="'m' takes 1,000"):
        questioner.request("", long)
    assert not ask([], 1).wonders(long)
    assert not Questioner(Window(model="m", chosen=9), (), Parameters(), lambda what: None).wonders(long)
