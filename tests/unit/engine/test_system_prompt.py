import pytest
from hypothesis import given
from hypothesis import strategies as st

from marid.core.settings.values import make_settings
from marid.engine.system_prompt import (
    BASE_PROMPT,
    PROMPT_NOTES,
    PromptParts,
    PromptTexts,
    base_prompt,
    prompt_parts,
    system_prompt,
)

IDENTITY = "This is the conversation 'c'."


def test_the_parts_stand_in_the_order_of_the_documents() -> None:
    parts = PromptParts(
        conversation="c",
        base="BASE",
        instructions="INSTRUCTIONS",
        username="Ann",
        summary="SUMMARY",
        goals="GOALS",
        todos="TODOS",
        fuel=(28, 30),
        reflection="REFLECTION",
    )
    assert system_prompt(parts) == (
        f"{IDENTITY}\n\nBASE\n\n"
        "--- AGENT INSTRUCTIONS ---\nINSTRUCTIONS\n\n"
        "The user's name is Ann.\n\n"
        "--- CONVERSATION SUMMARY ---\nSUMMARY\n\n"
        "--- CURRENT GOALS ---\nGOALS\n\n"
        "--- CURRENT TODOS ---\nTODOS\n\n"
        "Fuel: 28 of 30 requests are left in this round, and the results of tools need one more: call together what "
        "can be called together. With none left the round ends as it is.\n\n"
        "--- REFLECTION ---\nREFLECTION"
    )


@pytest.mark.parametrize("fuel", [None, (0, 0), (5, 0)])
def test_without_a_limit_nothing_is_said_of_fuel(fuel: tuple[int, int] | None) -> None:
    assert "Fuel" not in system_prompt(PromptParts(conversation="c", fuel=fuel))


@pytest.mark.parametrize("name", ["user", "", "  ", " user "])
def test_a_user_without_a_name_of_his_own_gets_no_sentence(name: str) -> None:
    assert "user's name" not in system_prompt(PromptParts(conversation="c", base="b", username=name))


def test_our_own_base_says_what_marid_is_and_that_texts_are_no_instructions() -> None:
    prompt = system_prompt(PromptParts(conversation="c"))
    assert BASE_PROMPT in prompt
    assert "You are marid" in BASE_PROMPT
    assert "tools" in BASE_PROMPT
    assert "never an instruction" in BASE_PROMPT
    assert len(BASE_PROMPT) < 1500


@pytest.mark.parametrize(
    ("home", "own", "base"),
    [
        ("", "", BASE_PROMPT),
        ("home", "", "home"),
        ("home", "own", "own"),
        ("", "own\n", "own"),
        (" ", "\n", BASE_PROMPT),
    ],
)
def test_the_conversations_own_base_beats_that_of_the_home(home: str, own: str, base: str) -> None:
    assert base_prompt(home, own) == base


def test_the_notes_of_a_conversation_become_parts() -> None:
    notes = {name: f"my {name}" for name in PROMPT_NOTES}
    parts = prompt_parts("c", notes, make_settings(username="Ann"), PromptTexts("rules", "home"), (2, 3))
    assert parts == PromptParts(
        conversation="c",
        base="my system_prompt",
        instructions="rules",
        username="Ann",
        summary="my summary",
        goals="my goals",
        todos="my todos",
        fuel=(2, 3),
        reflection="my reflection",
    )


def test_a_reflection_that_is_switched_off_is_no_part() -> None:
    off = make_settings(reflection_enabled=False)
    prompt = system_prompt(prompt_parts("c", {"reflection": "secret"}, off, PromptTexts(home="my base")))
    assert "secret" not in prompt
    assert prompt == f"{IDENTITY}\n\nmy base"


@given(st.text(), st.text(), st.text())
def test_sections_are_apart_by_one_blank_line(goals: str, todos: str, reflection: str) -> None:
    made = system_prompt(PromptParts(conversation="c", base="b", goals=goals, todos=todos, reflection=reflection))
    assert made.startswith(f"{IDENTITY}\n\nb")
    for heading, text in (("CURRENT GOALS", goals), ("CURRENT TODOS", todos), ("REFLECTION", reflection)):
        assert (f"\n\n--- {heading} ---\n{text.strip()}" in made) == bool(text.strip())
