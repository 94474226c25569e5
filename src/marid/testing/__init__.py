"""A real HTTP server for tests and demos that answers from a script, as OpenAI, Anthropic or Google would.

with ModelServer([say("Hel", "lo"), rate_limited(), say(calls=[call("get_tree", {"path": "."})])]) as server:
    ...  # a client with base_url=server.openai, server.anthropic or server.google
assert server.requests[0].said == "hi"
"""

from marid.testing.connection import Ending
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
    malformed_event,
    overloaded_error,
    rate_limited,
    server_error,
    unauthorized_error,
    unknown_model,
)
from marid.testing.model_server import ModelServer
from marid.testing.request import ReceivedResult, Request
from marid.testing.script import (
    ConditionalStep,
    Script,
    ScriptedCall,
    ScriptedModel,
    ScriptedUsage,
    Step,
    Turn,
    always,
    call,
    say,
    when,
)
from marid.testing.scriptfile import read_script

__all__ = (
    "ConditionalStep",
    "Cut",
    "Ending",
    "Fault",
    "Gate",
    "Hangup",
    "Insert",
    "ModelServer",
    "ReceivedResult",
    "Refusal",
    "Request",
    "Script",
    "ScriptedCall",
    "ScriptedModel",
    "ScriptedUsage",
    "SplitUtf8",
    "Stall",
    "Step",
    "StreamError",
    "Trickle",
    "Turn",
    "WrongType",
    "always",
    "bad_request",
    "call",
    "comment",
    "context_too_long",
    "gateway_error",
    "malformed_event",
    "overloaded_error",
    "rate_limited",
    "read_script",
    "say",
    "server_error",
    "unauthorized_error",
    "unknown_model",
    "when",
)
