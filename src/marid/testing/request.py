"""What a client asked, as a value to assert on; its secrets are not in its repr."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

ProtocolName: TypeAlias = Literal["openai", "anthropic", "google"]
RequestKind: TypeAlias = Literal["chat", "embeddings", "models", "unknown"]


@dataclass(frozen=True, kw_only=True)
class ReceivedResult:
    """What a tool gave; a protocol that has no id or no name for it leaves it empty."""

    id: str
    name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ReceivedPrompt:
    """What every protocol says in its own way: `said` is the user's last text, `results` came since the last reply."""

    system: str = ""
    said: str = ""
    results: tuple[ReceivedResult, ...] = ()
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request as it came; names of headers are in lower case. `number` counts from 0 in order of arrival."""

    number: int
    protocol: ProtocolName
    kind: RequestKind
    method: str
    path: str
    model: str
    stream: bool
    query: Mapping[str, str] = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    body: Any = field(repr=False)
    prompt: ReceivedPrompt = field(repr=False)

    @property
    def key(self) -> str:
        """The secret that was shown, wherever this protocol puts it."""
        bearer = self.headers.get("authorization", "").removeprefix("Bearer ")
        named = self.headers.get("x-api-key") or self.headers.get("x-goog-api-key")
        return named or bearer or self.query.get("key", "")

    @property
    def system(self) -> str:
        """The system prompt."""
        return self.prompt.system

    @property
    def said(self) -> str:
        """The user's last text."""
        return self.prompt.said

    @property
    def results(self) -> tuple[ReceivedResult, ...]:
        """What tools gave since the model's last reply."""
        return self.prompt.results

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools that were offered."""
        return self.prompt.tools
