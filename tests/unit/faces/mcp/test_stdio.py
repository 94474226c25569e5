import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr

import anyio
import pytest
from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from marid.faces.mcp.stdio import PendingRequests, log_line


def request(number: int | str) -> JSONRPCRequest:
    return JSONRPCRequest(jsonrpc="2.0", id=number, method="tools/list")


def response(number: int | str) -> JSONRPCResponse:
    return JSONRPCResponse(jsonrpc="2.0", id=number, result={})


def failure(number: int | str) -> JSONRPCError:
    return JSONRPCError.model_validate({"jsonrpc": "2.0", "id": number, "error": {"code": 1, "message": "no"}})


def notice(method: str, number: int | str) -> JSONRPCNotification:
    return JSONRPCNotification(jsonrpc="2.0", method=method, params={"requestId": number})


def waits_after(came: Sequence[JSONRPCMessage], went: Sequence[JSONRPCMessage]) -> bool:
    """Whether the end is put off when these messages went by while somebody was waiting for it."""

    async def main() -> bool:
        unanswered, done = PendingRequests(), anyio.Event()

        async def wait() -> None:
            await unanswered.wait_until_empty()
            done.set()

        async with anyio.create_task_group() as tasks:
            for message in came:
                unanswered.note_incoming(message)
            tasks.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            for message in went:
                unanswered.note_outgoing(message)
                await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        return not done.is_set()

    return anyio.run(main)


def test_without_requests_nobody_waits() -> None:
    assert not waits_after([notice("notifications/initialized", 1)], [])


def test_every_request_is_waited_for() -> None:
    assert waits_after([request(1)], [])
    assert waits_after([request(1), request("b")], [response(1)])
    assert not waits_after([request(1), request("b")], [response("b"), response(1)])


def test_an_error_is_an_answer_and_a_notification_is_none() -> None:
    assert not waits_after([request(1)], [failure(1)])
    assert waits_after([request(1)], [notice("notifications/progress", 1)])


@pytest.mark.parametrize("number", [1, "1"])
def test_a_cancelled_request_is_not_waited_for(number: int | str) -> None:
    assert not waits_after([request(1), notice("notifications/cancelled", number)], [])


def test_a_line_of_the_log_goes_to_stderr_only(capsys: pytest.CaptureFixture[str]) -> None:
    log_line("something")
    assert capsys.readouterr() == ("", "marid: something\n")


def test_a_closed_stderr_does_no_harm() -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "w", closefd=False) as stderr, redirect_stderr(stderr):
        log_line("this is lost")
        assert sys.stderr is stderr
        os.dup2(os.open(os.devnull, os.O_WRONLY), theirs)
    os.close(theirs)
