"""A model without a model: it searches the project with the offered tools and quotes what it finds."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from marid.adapters.offline.passages import (
    DEFINITIONS,
    Passage,
    best_passages,
    definition_pattern,
    definition_words,
    search_words,
    word_pattern,
)
from marid.core.errors import NotFound
from marid.core.model_io import (
    CallDelta,
    CallReady,
    CallStarted,
    Finished,
    FinishReason,
    Message,
    MessagePart,
    ModelInfo,
    ModelRequest,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
    message_tokens,
    request_tokens,
)
from marid.ports.model import OnModelEvent

OFFLINE = "offline"
_MAX_HITS = 120
_MAX_DEFINITIONS = 20
_MAX_NAMES = 10
_SHORT = 3
_DEFINITION_SUFFIX = "defined"
_ADVICE = "An answer in words needs a model: set `provider` and `model`, and `api_key` where one is needed."


class OfflineModel:
    """The port Model without a network: its first reply is a search, its second quotes the results.

    It is stateless: the history shows which reply is due.
    """

    @property
    def provider(self) -> str:
        return OFFLINE

    async def stream(self, request: ModelRequest, on_event: OnModelEvent) -> None:
        results = _results(request)
        calls = () if results else tuple(_search_calls(request))
        pieces = () if calls else tuple(_compose_answer(request, results))
        for piece in pieces:
            await on_event(TextDelta(piece))
        for number, call in enumerate(calls):
            await on_event(CallStarted(number, call.name))
            await on_event(CallDelta(number, call.arguments))
        for number, call in enumerate(calls):
            await on_event(CallReady(number, call))
        parts: tuple[MessagePart, ...] = calls or (Text(text="".join(pieces)),)
        reply = Message(role="assistant", parts=parts)
        reason: FinishReason = "calls" if calls else "stop"
        await on_event(Usage(request_tokens(request), message_tokens(reply), estimated=True))
        await on_event(Finished(reason, reply, OFFLINE))

    async def models(self) -> tuple[ModelInfo, ...]:
        return (ModelInfo(id=OFFLINE, provider=OFFLINE, name="passages of the project, no model"),)

    async def info(self, name: str) -> ModelInfo:
        if name != OFFLINE:
            raise NotFound(f"provider 'offline' has one model, 'offline', and no '{name}'")
        return (await self.models())[0]

    def context_window(self, name: str) -> int:
        """There is none."""
        return 0


def _results(request: ModelRequest) -> tuple[ToolResult, ...]:
    """The tool results at the end of the history."""
    last = takewhile(lambda message: message.role == "tool", reversed(request.messages))
    return tuple(part for message in reversed(list(last)) for part in message.parts if isinstance(part, ToolResult))


def _question(request: ModelRequest) -> str:
    """The user's last message, without what the program adds to it."""
    asked = (message.user_text.strip() for message in reversed(request.messages) if message.role == "user")
    return next(filter(None, asked), "")


def _search_calls(request: ModelRequest) -> Iterator[ToolCall]:
    """A search of the files for each word of the question, and one of the file names for all words."""
    offered = {tool.name for tool in request.tools}
    if request.parameters.tool_choice == "none":
        return
    question = _question(request)
    words = search_words(question)
    prefix = f"offline-{len(request.messages)}"  # no call of an earlier round has this id
    if "grep_files" in offered:
        yield from _grep_calls(prefix, words, definition_words(question, words))
    long = [word for word in words if len(word) > _SHORT] or words
    names = "{" + ",".join(long) + "}" if len(long) > 1 else "".join(long) or "README"
    if "glob_files" in offered:
        yield _make_call(f"{prefix}-names", "glob_files", {"pattern": f"*{names}*", "max_results": _MAX_NAMES})
    elif "search_files" in offered:
        yield _make_call(f"{prefix}-names", "search_files", {"path": ".", "pattern": f"**/*{names}*"})


def _grep_calls(prefix: str, words: Sequence[str], named: Sequence[str]) -> Iterator[ToolCall]:
    """Definitions are searched too: a search for a common name may stop before it reaches them."""
    for number, word in enumerate(words):
        arguments = {"pattern": word_pattern(word), "context_lines": 2, "max_results": _MAX_HITS}
        yield _make_call(f"{prefix}-{number}", "grep_files", arguments)
    if named:
        defined = {"pattern": definition_pattern(named), "context_lines": 2, "max_results": _MAX_DEFINITIONS}
        yield _make_call(f"{prefix}-{_DEFINITION_SUFFIX}", "grep_files", defined)
    if not words:
        beginning = {"pattern": r"\S", "file_pattern": "README*", "context_lines": 2, "max_results": _MAX_NAMES}
        yield _make_call(f"{prefix}-readme", "grep_files", beginning)


def _make_call(id: str, name: str, arguments: Mapping[str, object]) -> ToolCall:
    return ToolCall(id=id, name=name, arguments=json.dumps(arguments, ensure_ascii=False))


def _compose_answer(request: ModelRequest, results: tuple[ToolResult, ...]) -> Iterator[str]:
    words = search_words(_question(request))
    about = ", ".join(f'"{word}"' for word in words) or "the question"
    failed = [result for result in results if result.failed or result.text.startswith("ERROR: ")]
    searches = [result for result in results if result not in failed and result.name == "grep_files"]
    passages = best_passages({_word_of_call(result.call_id, words): result.text for result in searches})
    names = [path for result in results if result not in failed for path in _file_names(result)]
    if passages or names:
        yield f"This is offline: no model was asked. What the project says about {about}:\n"
    elif results:
        yield f"This is offline: no model was asked, and nothing in the project matches {about}.\n"
    else:
        yield "This is offline: no model was asked, and no tool to search the project is offered.\n"
    yield from (_format_passage(passage) for passage in passages)
    if names:
        yield "\nFiles by name:\n" + "".join(f"- `{name}`\n" for name in names[:_MAX_NAMES])
    for result in failed:
        yield f"\nA search failed: {' '.join(result.text.split())[:300]}\n"
    yield f"\n{_ADVICE}\n"


def _word_of_call(call: str, words: tuple[str, ...]) -> str:
    """The word that a search was for; the id itself if it was not one of these searches."""
    number = call.rpartition("-")[2]
    if number == _DEFINITION_SUFFIX:
        return DEFINITIONS
    known = number.isascii() and number.isdecimal() and int(number) < len(words)
    return words[int(number)] if known else call


def _file_names(result: ToolResult) -> list[str]:
    if result.name not in ("glob_files", "search_files") or result.text.startswith("Nothing matches"):
        return []
    return [line for line in result.text.splitlines() if line and not line.startswith("(")]


def _format_passage(passage: Passage) -> str:
    """The passage in a fence that is longer than any inside."""
    inside = "\n".join(passage.lines)
    longest = max((len(run) for run in re.findall("`{3,}", inside)), default=2)
    fence = "`" * (longest + 1)
    return f"\n{passage.location}\n{fence}\n{inside}\n{fence}\n"
