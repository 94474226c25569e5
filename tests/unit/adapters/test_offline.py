"""Answers from the project itself."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.model import answer, events_of, finished, text_of
from fakes.tool_caller import ToolCaller
from marid.adapters.offline import (
    DEFINITIONS,
    MAX_PASSAGES,
    MAX_WORDS,
    OfflineModel,
    Passage,
    best_passages,
    definition_words,
    search_words,
    stem,
    word_pattern,
)
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


def test_names_of_code_come_first_and_empty_words_never() -> None:
    assert search_words("where does the parser use read_file and TokenKind?") == ("read_file", "TokenKind", "parser")
    assert search_words("What is this?") == ()
    assert search_words("explain 12345 it") == ()


def test_a_word_counts_once_however_it_is_written() -> None:
    assert search_words("Parser parser PARSER") == ("Parser",)


def test_words_of_any_language_count() -> None:
    assert "größe" in search_words("wo steht die größe")


def test_there_are_never_many_words() -> None:
    assert len(search_words(" ".join(f"word_{number}" for number in range(1000)))) == MAX_WORDS


def test_a_passage_is_the_lines_around_a_hit() -> None:
    found = {"parser": "src/a.py:3-import re\nsrc/a.py:4: parser = 1\nsrc/a.py:5-x = 2\n--\nb.py:9: the parser"}
    assert best_passages(found) == (
        Passage("b.py", 9, ("the parser",)),
        Passage("src/a.py", 3, ("import re", "parser = 1", "x = 2")),
    )
    assert [passage.location for passage in best_passages(found)] == ["b.py:9", "src/a.py:3-5"]


def test_a_passage_with_more_of_the_words_is_better_and_rare_words_count_more() -> None:
    found = {
        "common": "\n".join(f"many.py:{line}: common" for line in range(1, 40, 2)) + "\nboth.py:1: common rare",
        "rare": "both.py:1: common rare\nonly.py:5: rare",
    }
    assert [passage.path for passage in best_passages(found)][:3] == ["both.py", "only.py", "many.py"]


def test_a_word_in_the_path_counts_too() -> None:
    found = {"parser": "a/other.py:1: parser\nz/parser.py:1: parser"}
    assert best_passages(found)[0].path == "z/parser.py"


def test_a_long_passage_is_cut_around_its_best_line() -> None:
    lines = [f"a.py:{line}{': ' if line in (1, 30) else '-'}line {line}" for line in range(1, 60)]
    found = {"one": "\n".join(lines), "two": "a.py:30: line 30"}
    (passage,) = best_passages(found)
    assert passage.first_line == 28
    assert len(passage.lines) == 12


def test_what_is_no_result_is_left_out() -> None:
    assert best_passages({"x": "No matches", "y": "(more than 60 matching lines: narrow the pattern)"}) == ()
    assert best_passages({}) == ()


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=200), max_size=3))
def test_no_text_breaks_it(found: dict[str, str]) -> None:
    assert len(best_passages(found)) <= MAX_PASSAGES


def test_plain_words_are_found_in_their_other_forms_and_names_as_they_are() -> None:
    assert [stem(word) for word in ("tests", "class", "Tests", "read_files", "bus")] == [
        "test",
        "class",
        "Tests",
        "read_files",
        "bus",
    ]
    assert word_pattern("tests") == "(?i)test"
    assert word_pattern("run") == r"(?i)\brun\b"


def test_the_definition_of_a_name_is_wanted_and_of_a_plain_word_only_when_asked_for() -> None:
    assert definition_words("explain Kettle and read_file, please", ("Kettle", "read_file", "please")) == (
        "Kettle",
        "read_file",
    )
    assert definition_words("Kettle?", ("Kettle",)) == ()
    assert definition_words("where is boil defined", ("boil",)) == ("boil",)


def test_a_definition_is_better_than_any_use_and_the_exact_name_better_still() -> None:
    found = {
        "Kettle": "a.py:1: kettle Kettle\nb.py:1: class kettle:\nc.py:1: class Kettle:",
        DEFINITIONS: "b.py:1: class kettle:\nc.py:1: class Kettle:",
    }
    assert [passage.path for passage in best_passages(found)] == ["c.py", "b.py", "a.py"]
