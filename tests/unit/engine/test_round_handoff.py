from marid.core.conversation.entry import TO_AGENT, TO_USER
from marid.engine.round_handoff import RoundHandoff
from marid.tools.conversation_tools import call_agent, call_user


def test_the_model_is_told_what_its_call_means() -> None:
    assert RoundHandoff().hand_to_user("") == "The round ends here."
    assert RoundHandoff().hand_to_user("done") == "The round ends here, with your message to the user."
    assert "after your next words" in RoundHandoff().hand_to_agent("go on")


def test_the_round_knows_the_tools_by_their_names() -> None:
    assert (call_user.name, call_agent.name) == (TO_USER, TO_AGENT)
