"""For tests and demos: a real HTTP server that plays a script in the protocols of OpenAI, Anthropic and Google.

with ModelServer([say("Hel", "lo"), rate_limited(), say(calls=[call("get_tree", {"path": "."})])]) as server:
    ...  # a client with base_url=server.openai, server.anthropic or server.google
assert server.requests[0].said == "hi"
"""

from marid.testing.faults import (
    Cut,
    Fault,
    Gate,
    Hangup,
    Insert,
    Refusal,
    SplitUtf8,
    Stall,
    StreamError,
    Trickle,
    WrongType,
    bad_request,
    comment,
    context_too_long,
    gateway_error,
    malformed,
    overloaded,
    rate_limited,
    server_error,
    unauthorized,
    unknown_model,
)
from marid.testing.request import Request, ToolResult
from marid.testing.script import Matched, Model, Script, Step, ToolCall, Turn, Usage, always, call, say, when
from marid.testing.scriptfile import read_script
from marid.testing.server import ModelServer
from marid.testing.wire import Ending

__all__ = (
    "Cut",
    "Ending",
    "Fault",
    "Gate",
    "Hangup",
    "Insert",
    "Matched",
    "Model",
    "ModelServer",
    "Refusal",
    "Request",
    "Script",
    "SplitUtf8",
    "Stall",
    "Step",
    "StreamError",
    "ToolCall",
    "ToolResult",
    "Trickle",
    "Turn",
    "Usage",
    "WrongType",
    "always",
    "bad_request",
    "call",
    "comment",
    "context_too_long",
    "gateway_error",
    "malformed",
    "overloaded",
    "rate_limited",
    "read_script",
    "say",
    "server_error",
    "unauthorized",
    "unknown_model",
    "when",
)
