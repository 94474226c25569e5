"""Answers from the project itself."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.model import answer, events_of, finished, text_of
from fakes.tool_caller import ToolCaller
from marid.adapters.offline import OfflineModel
from marid.core.model_io import (
    CallReady,
    Message,
    ModelRequest,
    Parameters,
    ToolCall,
    ToolOffer,
    ToolResult,
    Usage,
    user_message,
)
from marid.toolkit.spec import ToolSpec
from marid.tools.file_search import glob_files, search_files
from marid.tools.text_search import grep_files

SPECS: dict[str, ToolSpec] = {"grep_files": grep_files, "glob_files": glob_files, "search_files": search_files}


def offered(*names: str) -> tuple[ToolOffer, ...]:
    return tuple(ToolOffer(name=name, description="", schema={}) for name in names)


def asked(question: str, *names: str) -> ModelRequest:
    return ModelRequest(
        model="offline", messages=(user_message(question),), tools=offered(*names or ("grep_files", "glob_files"))
    )


def calls_of(request: ModelRequest) -> tuple[ToolCall, ...]:
    events, error = events_of(OfflineModel(), request)
    assert error is None
    return finished(events).reply.calls


def answered(request: ModelRequest, *results: ToolResult) -> str:
    messages = (*request.messages, answer(), Message(role="tool", parts=results))
    events, error = events_of(OfflineModel(), ModelRequest(model="offline", messages=messages, tools=request.tools))
    assert error is None
    assert text_of(events) == finished(events).reply.text
    return text_of(events)


def round_over(folder: Path, question: str, *names: str) -> str:
    """A whole round with the real tools."""
    hands, request = ToolCaller(folder), asked(question, *names)
    results: list[ToolResult] = []
    for call in calls_of(request):
        text = hands.text(SPECS[call.name], **json.loads(call.arguments))
        results.append(ToolResult(call_id=call.id, name=call.name, text=text))
    return answered(request, *results)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lexer.py").write_text(
        "import re\n\n\ndef next_token(text):\n    return re.match(r'a', text)\n"
    )
    (tmp_path / "notes.md").write_text("# Notes\n\n```\ncall next_token twice\n```\n")
    return tmp_path


def test_the_first_reply_searches_for_the_words_of_the_question() -> None:
    calls = calls_of(asked("how does next_token read an integer?"))
    assert [call.name for call in calls] == ["grep_files", "grep_files", "grep_files", "glob_files"]
    patterns = [json.loads(call.arguments)["pattern"] for call in calls]
    assert (patterns[:2], patterns[3]) == (["(?i)next_token", "(?i)integer"], "*{next_token,integer}*")
    assert patterns[2].endswith(r"(?:next_token)\b")


def test_what_stands_around_the_words_of_a_person_is_not_searched_for() -> None:
    plain = asked("where is next_token?")
    dated = replace(
        plain, messages=(user_message("[20261116-1905+0000] about bananas: where is it?", "where is next_token?"),)
    )
    assert calls_of(dated) == calls_of(plain)


def test_what_the_program_says_in_its_own_name_is_no_question() -> None:
    first = asked("where is next_token?")
    going_on = user_message("[Your answer broke off here. Go on where it stopped.]", "")
    later = ModelRequest(model="offline", messages=(*first.messages, answer("x"), going_on), tools=first.tools)
    assert [call.arguments for call in calls_of(later)] == [call.arguments for call in calls_of(first)]


def test_a_definition_is_found_among_any_number_of_uses_and_stands_first(project: Path) -> None:
    (project / "a.py").write_text("from src.lexer import next_token\n" + "next_token('x')\n" * 500)
    text = round_over(project, "where is next_token defined?", "grep_files")
    assert text.index("def next_token(text):") < text.index("a.py:")


def test_how_to_run_the_tests_is_told_by_who_says_it_in_words(project: Path) -> None:
    (project / "tests").mkdir()
    (project / "tests/check.py").write_text("def run(tests):\n    return tests\n" * 50)
    (project / "README.md").write_text("# It\n\nRun the tests with `make test`.\n")
    text = round_over(project, "How do I run the tests?")
    assert text.index("README.md:1-3") < text.index("tests/check.py")


def test_a_short_word_is_no_part_of_another(project: Path) -> None:
    (project / "tests.md").write_text("the latest tests\n")
    assert "latest" not in round_over(project, "où est zebra_stripes?")


def test_no_call_has_the_id_of_an_earlier_round() -> None:
    first = asked("next_token")
    later = ModelRequest(model="offline", messages=(*first.messages, answer("x"), *first.messages), tools=first.tools)
    assert not {call.id for call in calls_of(first)} & {call.id for call in calls_of(later)}


@pytest.mark.parametrize("names", [("grep_files", "glob_files"), ("grep_files",), ("grep_files", "search_files")])
def test_the_second_reply_quotes_what_was_found_with_file_and_lines(project: Path, names: tuple[str, ...]) -> None:
    text = round_over(project, "Where is next_token defined in the lexer?", *names)
    assert "offline" in text
    assert "src/lexer.py:2-5\n```\n" in text
    assert "def next_token(text):" in text
    assert "notes.md:2-5\n````\n" in text
    assert ("- `src/lexer.py`" in text) is (len(names) > 1)


def test_nothing_found_is_said(project: Path) -> None:
    text = round_over(project, "Where is zebra_stripes?")
    assert "offline" in text
    assert 'nothing in the project matches "zebra_stripes"' in text


def test_without_words_the_readme_is_looked_for(project: Path) -> None:
    (project / "README.md").write_text("# Lexer\n\nIt reads.\n")
    text = round_over(project, "What is this?")
    assert "- `README.md`" in text
    assert "README.md:1-3\n```\n# Lexer\n\nIt reads.\n" in text


def test_without_tools_it_says_what_would_help() -> None:
    for request in (
        ModelRequest(model="offline", messages=(user_message("hi"),)),
        ModelRequest(
            model="offline",
            messages=(user_message("hi"),),
            tools=offered("grep_files"),
            parameters=Parameters(tool_choice="none"),
        ),
        ModelRequest(model="offline", messages=()),
    ):
        events, _ = events_of(OfflineModel(), request)
        assert "no tool to search" in text_of(events)
        assert "`provider`" in text_of(events)


def test_a_search_that_failed_is_told() -> None:
    bad = ToolResult(call_id="offline-1-0", name="grep_files", text="ERROR: no such folder\nmore", failed=True)
    text = answered(asked("next_token"), bad, ToolResult(call_id="x", name="other", text="a.py:1: b"))
    assert "A search failed: ERROR: no such folder more" in text


def test_results_of_somebody_elses_search_are_quoted_too() -> None:
    text = answered(asked("next_token"), ToolResult(call_id="call-9", name="grep_files", text="a.py:1: b"))
    assert "a.py:1\n" in text


def test_figures_are_estimates_and_every_call_is_told() -> None:
    events, _ = events_of(OfflineModel(), asked("next_token"))
    assert [event.estimated for event in events if isinstance(event, Usage)] == [True]
    assert sum(isinstance(event, CallReady) for event in events) == 3


def test_it_needs_no_gateway_library_and_no_network() -> None:
    code = "import sys, marid.adapters.offline; print(*sorted(sys.modules))"
    # What a measured test run adds to every process would hide what we import ourselves.
    env = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=60)
    heavy = {"pydantic", "pydantic_ai", "httpx2", "asyncio", "anyio", "openai", "socket"}
    assert not heavy & set(done.stdout.split())
