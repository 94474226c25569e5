"""Talking to a model on the command line, as a person does: the whole program against a real server."""

import json
import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fakes.program import Program, marid
from fakes.real_app import add_messages, chat_requests
from fakes.terminal import TerminalSession
from marid.bootstrap.wiring import open_request
from marid.testing import (
    Cut,
    Gate,
    ModelServer,
    Request,
    Stall,
    Step,
    Turn,
    call,
    context_too_long,
    rate_limited,
    say,
    server_error,
    unauthorized_error,
    unknown_model,
)

__all__ = ["marid"]


@contextmanager
def model(program: Program, *steps: Step, **settings: object) -> Generator[ModelServer]:
    """The scripted server as the provider of the program's home."""
    with ModelServer(list(steps)) as server:
        lines = {"base_url": server.openai, "model": "scripted-model", "api_key": "sk-canary-0123456789", **settings}
        home = Path(os.environ["MARID_HOME"])
        home.mkdir(exist_ok=True)
        (home / "config.toml").write_text("".join(f"{key} = {_toml(value)}\n" for key, value in lines.items()))
        yield server


def _toml(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def kept() -> str:
    """Everything that conversations of the home hold."""
    folder = Path(os.environ["MARID_HOME"])
    return "".join(path.read_text() for path in sorted(folder.rglob("*.jsonl")))


def prompts() -> list[str]:
    """What the user has said, without the time that stands before it."""
    entries = [json.loads(line) for line in kept().splitlines()]
    said = [entry["content"] for entry in entries if entry.get("from") == "user" or entry.get("sender") == "user"]
    return list(dict.fromkeys(text.partition("] ")[2] for text in said))


class TestInAPipe:
    """stdout is the answer; what else there is to say goes to stderr."""

    def test_stdout_is_the_answer_and_one_newline(self, marid: Program) -> None:
        with model(marid, say("Hel", "lo")):
            done = marid("say", "hi")
        assert (done.code, done.text, done.err) == (0, "Hello\n", "")

    def test_markdown_stays_as_it_is(self, marid: Program) -> None:
        with model(marid, say("# Title\n\n**bold**\n")):
            assert marid("say", "hi").text == "# Title\n\n**bold**\n"

    def test_raw_prints_the_answer_as_it_is_and_so_does_the_setting(self, marid: Program) -> None:
        turn = say("**bold**")
        with model(marid, turn, turn, turn):
            assert marid("--raw", "say", "hi").text == "**bold**\n"
            Path(os.environ["MARID_HOME"], "cli.toml").write_text("render_markdown = false\n")
            assert marid("say", "hi").text == "**bold**\n"
            marid.set(NO_COLOR="1")
            assert marid("--debug", "force-markdown", "say", "hi").text == "bold\n"

    def test_words_beside_calls_and_the_answer_are_lines_of_one_stream(self, marid: Program) -> None:
        with model(marid, say("Looking.", calls=[call("get_tree", {"path": "."})]), say("Done.")):
            done = marid("say", "look")
        assert (done.code, done.text, done.err) == (0, "Looking.\nDone.\n", "")

    def test_what_call_user_says_is_part_of_the_answer(self, marid: Program) -> None:
        with model(marid, say(calls=[call("call_user", {"message": "Which one?"})])) as server:
            done = marid("say", "go")
        assert (done.code, done.text) == (0, "Which one?\n")
        assert len(chat_requests(server)) == 1

    def test_verbose_shows_the_use_of_tools(self, marid: Program) -> None:
        turns = (say(calls=[call("get_tree", {"path": "."})]), say("Done."))
        with model(marid, *turns):
            told = marid("-v", "say", "look")
        assert "[get_tree]" in told.err
        assert told.text == "Done.\n"
        with model(marid, *turns):
            assert "[get_tree]" not in marid("-v", "--hide-tool-calls", "say", "look").err

    def test_thoughts_are_shown_on_stderr_and_only_when_wanted(self, marid: Program) -> None:
        thinking = say("Yes.", reasoning=("hm", "m"))
        with model(marid, thinking, thinking):
            quiet = marid("say", "hi")
            told = marid("--show-thinking", "say", "hi")
        assert (quiet.text, quiet.err) == ("Yes.\n", "")
        assert (told.text, "hmm" in told.err) == ("Yes.\n", True)

    def test_arguments_that_are_no_json_are_told_to_the_model(self, marid: Program) -> None:
        def answer(request: Request) -> Turn:
            return say(*(result.text for result in request.results))

        with model(marid, say(calls=[call("get_tree", "{broken")]), answer):
            done = marid("say", "look")
        assert done.code == 0
        assert "error" in done.text.lower()
        assert "JSON" in done.text

    def test_without_fuel_the_round_ends_with_what_there_is(self, marid: Program) -> None:
        again = say("Again.", calls=[call("get_tree", {"path": "."})])
        with model(marid, again, again, again, fuel=2) as server:
            done = marid("say", "look")
        assert (done.code, done.text) == (0, "Again.\nAgain.\n")
        assert "fuel" in done.err
        assert len(chat_requests(server)) == 2

    def test_a_model_that_says_nothing_is_told_as_such(self, marid: Program) -> None:
        with model(marid, say(""), say(""), say("never")) as server:
            told = marid("say", "hi")
        assert (told.code, told.out, len(chat_requests(server))) == (0, b"", 2)
        assert "returned only empty answers" in told.err
        assert "30 requests" not in told.err

    def test_a_blank_prompt_makes_nothing(self, marid: Program) -> None:
        done = marid("say", " ")
        assert (done.code, done.out) == (2, b"")
        assert "the prompt is empty" in done.err
        assert not Path(os.environ["MARID_HOME"], "contexts").exists()

    def test_without_a_provider_the_answer_says_that_it_is_offline(self, marid: Program) -> None:
        marid.write({"notes.md": "The zebra crossing is painted every spring.\n"})
        done = marid("say", "where is the zebra crossing?")
        assert done.code == 0
        assert "offline" in done.text.lower()


class TestWhenItFails:
    """The exit code is the family's, and what was said stays."""

    def test_a_cut_answer_keeps_what_there_was_and_is_not_asked_for_again(self, marid: Program) -> None:
        with model(marid, say("Hel", "lo", faults=[Cut(after=1)]), say("never")) as server:
            done = marid("say", "hi")
        assert (done.code, done.text) == (6, "Hel\n")
        assert len(chat_requests(server)) == 1
        assert "Hel" in kept()

    def test_a_service_that_is_busy_is_asked_again(self, marid: Program) -> None:
        with model(marid, rate_limited(retry_after=0), say("Now.")) as server:
            done = marid("-v", "say", "hi")
        assert (done.code, done.text) == (0, "Now.\n")
        assert len(chat_requests(server)) == 2
        assert "[attempt 2]" in done.err

    @pytest.mark.parametrize(
        ("refusal", "code", "tries"),
        [
            (rate_limited(retry_after=0), 6, 4),
            (unauthorized_error(), 3, 1),
            (unknown_model("scripted-model"), 4, 1),
            (context_too_long(), 5, 1),
        ],
        ids=["busy", "wrong key", "unknown model", "full window"],
    )
    def test_a_refusal_has_the_exit_code_of_its_family_and_only_a_busy_service_is_asked_again(
        self, marid: Program, refusal: Step, code: int, tries: int
    ) -> None:
        with model(marid, *[refusal] * 5) as server:
            done = marid("say", "hi")
        assert (done.code, done.out, len(chat_requests(server))) == (code, b"", tries)
        assert "sk-canary" not in done.err

    def test_a_broken_round_goes_on_without_a_new_message(self, marid: Program) -> None:
        with model(marid, server_error(status=400), say("Here I am.")) as server:
            assert marid("say", "hi").code != 0
            done = marid("resume")
            assert (done.code, done.text) == (0, "Here I am.\n")
            assert chat_requests(server)[1].said == chat_requests(server)[0].said
            nothing = marid("resume")
        assert (nothing.code, nothing.text) == (0, "")
        assert "nothing to resume" in nothing.err


class TestInput:
    """From the line, a pipe, a keyboard, nowhere. Nobody has to understand it: without a provider it is offline."""

    def test_piped_text_comes_after_the_words(self, marid: Program) -> None:
        done = marid.apart("say", "explain", "this", given="one\n\n  zwei ü\n".encode())
        assert done.code == 0
        assert prompts() == ["explain this\n\none\n\n  zwei ü\n"]

    def test_bytes_that_are_no_text_are_replaced_on_the_line_too(self, marid: Program) -> None:
        bad = b"bad \xff".decode("utf-8", "surrogateescape")
        for args in ([bad], ["say", bad], ["-y", bad, bad]):
            told = marid(*args)
            assert (told.code, told.err.count("is replaced by \ufffd")) == (0, 2 if "-y" in args else 1)
        assert prompts() == ["bad \ufffd"]
        assert marid("-n", "prompt").text == "bad \ufffd\n"
        assert r"\udc" not in kept()

    def test_a_closed_input_is_no_input(self, marid: Program) -> None:
        shell = f"exec {sys.executable} -m marid say hi <&-"
        done = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert prompts() == ["hi"]

    def test_a_person_types_until_a_dot(self, marid: Program) -> None:
        with TerminalSession("say", piped=True) as person:
            person.wait_for("type the prompt")
            person.type("one\ntwo\n.\n")
            assert person.wait_exit() == 0
        assert prompts() == ["one\ntwo"]


class TestOnATerminal:
    """With a person before it."""

    def test_markdown_is_rendered_as_it_comes(self, marid: Program) -> None:
        gate = Gate()
        turn = say("# Title\n\n", "**bold**\n\n", "end", faults=[Stall(gate=gate, after=2)])
        with model(marid, turn), TerminalSession("say", "hi") as person:
            person.wait_for("bold")
            gate.release()
            assert person.wait_exit() == 0
        assert "**" not in person.shown
        assert "\x1b[" in person.shown

    def test_ctrl_c_ends_the_round_and_keeps_what_was_said(self, marid: Program) -> None:
        gate = Gate()
        with model(marid, say("Hello\n\n", "you", faults=[Stall(gate=gate, after=1)])) as server:
            with TerminalSession("say", "hi") as person:
                person.wait_for("Hello")
                person.type("\x03")
                assert person.wait_exit() == 130
            # Whoever is given up, because it hangs, stores nothing and begins no line.
            assert server.wait_for_end(chat_requests(server)[0].number) == "left"
        assert person.shown.endswith("\n")
        assert "Hello" in kept()
        assert '"interrupted"' in kept()

    @pytest.mark.parametrize("args", [["say"], ["-D", "work"]])
    def test_after_ctrl_c_at_the_keyboard_the_next_prompt_begins_a_line(self, marid: Program, args: list[str]) -> None:
        add_messages(open_request(), "work", "hello")
        with TerminalSession(*args) as person:
            person.wait_for("type the prompt" if "say" in args else "[y/N]")
            person.type("\x03")
            assert person.wait_exit() == 130
        assert person.shown.endswith("\n")

    def test_a_key_on_the_line_is_warned_of(self, marid: Program) -> None:
        with TerminalSession("-s", "api_key=sk-canary-0123456789", "-s", "provider=offline", "hello") as person:
            assert person.wait_exit() == 0
        assert "other users can see this key" in person.shown
        assert "sk-canary" not in person.shown

    @pytest.mark.parametrize("how", ["a tool", "a question"])
    def test_ctrl_c_while_something_else_goes_on(self, marid: Program, how: str) -> None:
        flags = ("--trust",) if how == "a tool" else ()
        turn = say(calls=[call("run_shell", {"command": "sleep 30"})])
        with model(marid, turn, say("never")) as server, TerminalSession(*flags, "-v", "say", "hi") as person:
            person.wait_for("[run_shell]" if flags else "Allow it?")
            person.type("\x03")
            assert person.wait_exit() == 130
        assert len(chat_requests(server)) == 1

    def test_a_question_is_answered_on_the_terminal_not_by_what_is_piped_in(self, marid: Program) -> None:
        turn = say(calls=[call("write_file", {"path": "new.txt", "content": "made"})])
        with model(marid, turn, say("Done.")), TerminalSession("say", "go", given=b"n\nn\n", piped=True) as person:
            person.wait_for("Allow it?")
            person.type("y\n")
            assert person.wait_exit() == 0
        assert (marid.folder / "new.txt").read_text() == "made"

    def test_a_reader_that_goes_away_ends_it_quietly(self, marid: Program) -> None:
        gate = Gate()
        pieces = [f"line {number}\n" for number in range(200)]
        turn = say(*pieces, faults=[Stall(gate=gate, after=1)])
        with model(marid, turn), TerminalSession("say", "hi", piped=True) as person:
            assert person.hang_up() == b"l"
            gate.release()
            assert person.wait_exit() == 0
        assert "marid:" not in person.shown
        assert "line 1" in kept()


class TestWithoutAReader:
    """The answer is kept, whoever reads it."""

    @pytest.mark.parametrize("outlet", ["| true", ">&-", ">/dev/full"])
    def test_an_answer_that_nobody_reads_is_kept(self, marid: Program, outlet: str) -> None:
        script = f'"{sys.executable}" -m marid zebra {outlet}; exit "${{PIPESTATUS[0]}}"'
        done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=60, check=False)
        assert done.returncode == (6 if "full" in outlet else 0)
        assert "This is offline" in kept()


class TestModels:
    """What the providers offer."""

    def test_the_list_holds_the_server_s_and_offline(self, marid: Program) -> None:
        with model(marid):
            done = marid("models")
        assert done.code == 0
        assert "\nscripted-model " in done.text
        assert "offline:offline" in done.text

    def test_one_model_is_told_as_toml(self, marid: Program) -> None:
        with model(marid):
            done = marid("model-info", "scripted-model", "--full")
        assert done.code == 0
        assert '[models."scripted-model"]' in done.lines
        assert "context_window = 128000" in done.lines


def test_a_note_about_the_settings_is_told_once(marid: Program) -> None:
    home = Path(os.environ["MARID_HOME"])
    home.mkdir()
    (home / "config.toml").write_text("auto_compact = true\n")
    assert marid("hello").err.count("'auto_compact' is not supported yet") == 1
