"""What a person is asked, and how a face asks it."""

import json
from collections.abc import Mapping
from typing import Protocol

from marid.core.caller import Caller
from marid.core.policy.approval import ApprovalAnswer, Question, QuestionKind
from marid.toolkit.preview import Preview, content_digest

_GRANT_HINTS = {
    QuestionKind.EDIT: "--allow write grants it for one run",
    QuestionKind.COMMAND: "--allow exec grants it for one run",
    QuestionKind.FETCH: "--allow net grants it for one run",
    QuestionKind.SPAWN: "--allow spawn grants it for one run",
    QuestionKind.OUTSIDE: "`marid allow PATH` opens a path for good",
    QuestionKind.CALL: "--trust grants it for one run",
}


class Asker(Protocol):
    """How a face puts a question to the person in front of it."""

    async def ask(self, question: Question) -> ApprovalAnswer | None:
        """The answer, or None when nobody is there (any more). Cancelled when the answer has come from elsewhere."""
        ...


class QuestionBuilder:
    """One call that asks: its questions are bound to the caller, the call, its arguments and the whole plan."""

    def __init__(self, tool: str, args: Mapping[str, object], caller: Caller, call: str, scope: str) -> None:
        self._tool = tool
        self._args = args
        self._caller = caller
        self._call = call
        self._scope = scope

    def build(self, preview: Preview) -> Question:
        """With no times yet. The same call of the same caller asks by the same id, also after a restart."""
        hashed = _digest([self._tool, self._args, preview.kind.value, preview.plan])
        return Question(
            id=_digest([self._caller, self._call, hashed])[:26],
            kind=preview.kind,
            tool=self._tool,
            caller=self._caller,
            text=preview.text,
            hash=hashed,
            created=0.0,
            expires=0.0,
            always=preview.always,
            scope=self._scope,
            grant=preview.grant,
        )


def grant_hint(preview: Preview) -> str:
    """What would make the question needless."""
    if preview.kind is QuestionKind.EDIT and not preview.always:
        return "--trust grants it for one run"
    return _GRANT_HINTS[preview.kind]


def _digest(values: object) -> str:
    return content_digest(json.dumps(values, sort_keys=True, default=repr).encode())
