"""A real HTTP server for tests and demos that answers from a script, as OpenAI, Anthropic or Google would.

with ModelServer([say("Hel", "lo"), rate_limited(), say(calls=[call("get_tree", {"path": "."})])]) as server:
    ...  # a client with base_url=server.openai, server.anthropic or server.google
assert server.requests[0].said == "hi"
"""

from marid.testing.connection import Ending as Ending
from marid.testing.faults import Cut as Cut
from marid.testing.faults import Fault as Fault
from marid.testing.faults import Gate as Gate
from marid.testing.faults import Hangup as Hangup
from marid.testing.faults import Insert as Insert
from marid.testing.faults import Refusal as Refusal
from marid.testing.faults import SplitUtf8 as SplitUtf8
from marid.testing.faults import Stall as Stall
from marid.testing.faults import StreamError as StreamError
from marid.testing.faults import Trickle as Trickle
from marid.testing.faults import WrongType as WrongType
from marid.testing.faults import bad_request as bad_request
from marid.testing.faults import comment as comment
from marid.testing.faults import context_too_long as context_too_long
from marid.testing.faults import gateway_error as gateway_error
from marid.testing.faults import malformed_event as malformed_event
from marid.testing.faults import overloaded_error as overloaded_error
from marid.testing.faults import rate_limited as rate_limited
from marid.testing.faults import server_error as server_error
from marid.testing.faults import unauthorized_error as unauthorized_error
from marid.testing.faults import unknown_model as unknown_model
from marid.testing.model_server import ModelServer as ModelServer
from marid.testing.request import ReceivedResult as ReceivedResult
from marid.testing.request import Request as Request
from marid.testing.script import ConditionalStep as ConditionalStep
from marid.testing.script import Script as Script
from marid.testing.script import ScriptedCall as ScriptedCall
from marid.testing.script import ScriptedModel as ScriptedModel
from marid.testing.script import ScriptedUsage as ScriptedUsage
from marid.testing.script import Step as Step
from marid.testing.script import Turn as Turn
from marid.testing.script import always as always
from marid.testing.script import call as call
from marid.testing.script import say as say
from marid.testing.script import when as when
from marid.testing.scriptfile import read_script as read_script
