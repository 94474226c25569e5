"""A person at a real terminal (a pty) answers what a tool asks for."""

import os
import pty
from collections.abc import Iterator
from functools import partial

import anyio
import pytest

from marid.core.caller import Caller
from marid.core.policy.approval import ApprovalAnswer, Decline, Question, QuestionKind
from marid.faces.cli.chat.terminal_asker import open_terminal_asker

QUESTION = Question(
    id="q1",
    kind=QuestionKind.EDIT,
    tool="edit_file",
    caller=Caller(face="cli"),
    text="--- a.txt\n+++ a.txt\n-old\n+new",
    hash="h",
    created=0.0,
    expires=60.0,
    always=True,
    scope="run",
    grant="edit_file",
    covers="every edit by edit_file, in this run",
)


class Person:
    """Holds the other end of a terminal: reads what is shown, types what is said."""

    def __init__(self) -> None:
        self.end, self._terminal = pty.openpty()
        self.path = os.ttyname(self._terminal)
        self.seen = ""

    async def answer(self, *lines: str) -> None:
        """Type a line each time that the question, or the next page, is offered."""
        for line in lines:
            await self.wait_for("] ")
            os.write(self.end, line.encode() + b"\n")

    async def wait_for(self, words: str) -> None:
        at = len(self.seen)
        while words not in self.seen[at:]:
            await anyio.wait_readable(self.end)
            self.seen += os.read(self.end, 4096).decode("utf-8", "replace")

    def close(self) -> None:
        os.close(self.end)
        os.close(self._terminal)


@pytest.fixture
def person() -> Iterator[Person]:
    one = Person()
    yield one
    one.close()


def asked(person: Person, question: Question, *lines: str, colour: bool = False) -> ApprovalAnswer | Decline | None:
    answers: list[ApprovalAnswer | Decline | None] = []

    async def ask() -> None:
        asker = open_terminal_asker(person.path, colour=colour)
        assert asker is not None
        answers.append(await asker.ask(question))

    async def main() -> None:
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(ask)
                await person.answer(*lines)

    anyio.run(main)
    return answers[0]


@pytest.mark.parametrize(
    ("said", "answer"), [("y", "yes"), ("YES", "yes"), ("n", "no"), ("no", "no"), ("", "no"), ("a", "always")]
)
def test_a_person_says_yes_no_or_always(person: Person, said: str, answer: str) -> None:
    assert asked(person, QUESTION, said) is ApprovalAnswer(answer)
    assert "edit_file wants to change files:" in person.seen
    assert "+new" in person.seen


def test_the_end_of_the_input_is_no(person: Person) -> None:
    assert asked(person, QUESTION, "\x04") is ApprovalAnswer.NO
    assert asked(person, QUESTION, "\x04") is ApprovalAnswer.NO


def test_the_title_stands_out_where_colour_is_wanted(person: Person) -> None:
    asked(person, QUESTION, "n", colour=True)
    assert "\x1b[1medit_file" in person.seen


def test_what_makes_no_sense_is_asked_again_and_refused_in_the_end(person: Person) -> None:
    assert asked(person, QUESTION, "perhaps", "y") is ApprovalAnswer.YES
    assert asked(person, QUESTION, "perhaps", "what?", "hm") is ApprovalAnswer.NO


def test_always_is_no_answer_where_it_is_not_offered(person: Person) -> None:
    assert asked(person, QUESTION._replace(always=False), "a", "y") is ApprovalAnswer.YES
    assert "always" not in person.seen


def test_what_was_typed_before_the_question_does_not_count(person: Person) -> None:
    os.write(person.end, b"y\ny\ny\n")
    assert asked(person, QUESTION, "n") is ApprovalAnswer.NO


def test_two_questions_are_asked_one_after_the_other(person: Person) -> None:
    asker = open_terminal_asker(person.path)
    assert asker is not None
    answers: dict[str, ApprovalAnswer | Decline | None] = {}

    async def ask(name: str) -> None:
        answers[name] = await asker.ask(QUESTION._replace(tool=name))

    async def main() -> None:
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(ask, "first")
                group.start_soon(ask, "second")
                await person.answer("y", "n")

    anyio.run(main)
    assert sorted(str(answer) for answer in answers.values()) == ["ApprovalAnswer.NO", "ApprovalAnswer.YES"]
    assert person.seen.index("first wants") < person.seen.index("second wants")


def test_an_answer_from_elsewhere_ends_the_question(person: Person) -> None:
    asker = open_terminal_asker(person.path)
    assert asker is not None

    async def main() -> None:
        with anyio.fail_after(30):
            async with anyio.create_task_group() as group:
                group.start_soon(partial(asker.ask, QUESTION))
                await person.wait_for("Enter = no] ")
                group.cancel_scope.cancel()

    anyio.run(main)
    anyio.run(person.wait_for, "answered elsewhere, or cancelled")


def test_a_terminal_that_is_closed_gives_no_answer() -> None:
    person = Person()
    asker = open_terminal_asker(person.path)
    assert asker is not None
    person.close()
    assert anyio.run(asker.ask, QUESTION) is None


def test_without_a_terminal_there_is_nobody_to_ask(tmp_path: object) -> None:
    assert open_terminal_asker(f"{tmp_path}/no/tty") is None


@pytest.mark.parametrize("kind", QuestionKind)
def test_every_kind_of_question_has_a_title(person: Person, kind: QuestionKind) -> None:
    assert asked(person, QUESTION._replace(kind=kind), "y") is ApprovalAnswer.YES
    assert "edit_file wants to" in person.seen


LONG = QUESTION._replace(text="\n".join(f"line {number}" for number in range(50)))


def test_a_long_text_is_paged_and_yes_is_offered_only_after_its_end(person: Person) -> None:
    assert asked(person, LONG, "y", "", "y") is ApprovalAnswer.YES
    assert "line 49" in person.seen
    first, second, third = person.seen.split("more lines [")
    assert "y = yes" not in first + second
    assert "y = yes" in third
    assert "-- 29 " in first
    assert "-- 8 " in second


@pytest.mark.parametrize(("said", "answer"), [("n", ApprovalAnswer.NO), ("no too long", Decline("too long"))])
def test_a_long_text_can_be_declined_before_its_end(
    person: Person, said: str, answer: ApprovalAnswer | Decline
) -> None:
    assert asked(person, LONG, said) == answer
    assert "line 49" not in person.seen


def test_the_rest_can_be_shown_at_once(person: Person) -> None:
    assert asked(person, LONG._replace(text=LONG.text + "#" * 5000), "e", "a") is ApprovalAnswer.ALWAYS
    assert person.seen.count("#") == 5000


def test_a_no_can_carry_a_reason(person: Person) -> None:
    assert asked(person, QUESTION, "n use b.py instead") == Decline("use b.py instead")


def test_always_says_what_it_covers(person: Person) -> None:
    asked(person, QUESTION, "n")
    assert "(always: every edit by edit_file, in this run)" in person.seen
