"""The server, over plain HTTP."""

import io
import json
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from marid.core.errors import BadInput, Exhausted, Unavailable
from marid.testing import Gate, ModelServer, Request, Script, Stall, Turn, always, rate_limited, say, when
from marid.testing.__main__ import serve


def post(server: ModelServer, body: Any, *, key: str = "") -> tuple[int, Any]:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Authorization": f"Bearer {key}"})
    with connection.getresponse() as response:
        found = response.status, json.loads(response.read())
    connection.close()
    return found


def content(reply: tuple[int, Any]) -> str:
    status, body = reply
    assert status == 200
    return body["choices"][0]["message"]["content"]


def test_a_connection_serves_many_requests() -> None:
    with ModelServer([always(say("again"))]) as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        connection.connect()
        name = connection.sock.getsockname()
        for _ in range(5):
            connection.request("POST", "/v1/messages", b"{}")
            connection.getresponse().read()
            assert connection.sock.getsockname() == name
        connection.close()


def test_several_servers_run_at_once_and_each_answers_several_clients() -> None:
    def echo(request: Request) -> Turn:
        return say(str(request.body["x"]))

    with ModelServer([always(echo)]) as one, ModelServer([always(echo)]) as two, ThreadPoolExecutor(16) as threads:
        replies = threads.map(post, [two, one] * 8, [{"x": number} for number in range(16)])
        assert [content(reply) for reply in replies] == [str(number) for number in range(16)]
        assert [request.number for request in one.requests] == list(range(8))


def test_a_wrong_key_costs_no_step() -> None:
    with ModelServer(Script(steps=[say("a")], key="right")) as server:
        assert post(server, {}, key="wrong")[0] == 401
        assert server.steps_left == 1
        assert content(post(server, {}, key="right")) == "a"


def test_steps_may_be_added_while_it_runs() -> None:
    with ModelServer([]) as server:
        assert post(server, {})[0] == 500
        server.play(rate_limited(), when(lambda request: request.said == "x", say("matched")))
        assert content(post(server, {"messages": [{"role": "user", "content": "x"}]})) == "matched"
        assert post(server, {})[0] == 429


def test_a_test_can_wait_for_a_request_and_let_it_go_on() -> None:
    gate = Gate()
    with ModelServer([say("a", faults=[Stall(gate=gate)])]) as server:
        heard: list[str] = []
        talker = threading.Thread(target=lambda: heard.append(content(post(server, {}))))
        talker.start()
        assert len(server.wait_for(1)) == 1
        assert gate.wait()
        with pytest.raises(Exhausted, match="the response to request 0 lasts over 0 s"):
            server.wait_for_end(0, 0)
        with pytest.raises(Exhausted, match="fewer than 2 requests came in 0 s"):
            server.wait_for(2, 0)
        gate.release()
        talker.join(10)
        assert heard == ["a"]


def test_stopping_ends_what_stalls_and_leaves_no_socket_and_no_thread() -> None:
    before = threading.enumerate()
    server = ModelServer([say("a", faults=[Stall()])]).start()
    address = ("127.0.0.1", server.port)
    with socket.create_connection(address, 5) as stalled, socket.create_connection(address, 5):
        stalled.sendall(b"POST /v1/messages HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
        server.wait_for(1)
        server.stop()
        stalled.makefile("rb").read()
        assert server.wait_for_end(0) == "stopped"
        assert [thread for thread in threading.enumerate() if thread not in before] == []
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, 5)
    server.stop()


def test_a_server_may_be_started_again_on_its_port() -> None:
    server = ModelServer([always(say("a"))])
    with server:
        port = server.port
        post(server, {})
    with server:
        assert server.port == port
        assert content(post(server, {})) == "a"


def test_a_taken_port_is_named() -> None:
    with ModelServer([]) as server, pytest.raises(Unavailable, match=f"127.0.0.1:{server.port}"):
        ModelServer([], port=server.port).start()


def test_anything_but_http_gets_status_400() -> None:
    with ModelServer([]) as server, socket.create_connection(("127.0.0.1", server.port), 5) as client:
        client.sendall(b"hello?\n")
        assert client.makefile("rb").read().startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert server.requests == ()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_turn_that_fails_closes_the_connection() -> None:
    def fail(request: Request) -> Turn:
        raise ValueError(request.path)

    with ModelServer([fail, say("next")]) as server:
        with pytest.raises(ConnectionError):
            post(server, {})
        assert server.wait_for_end(0) == "broken"
        assert content(post(server, {})) == "next"


def test_it_prints_its_addresses_and_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"turns": ["hello"], "models": ["mine"]}')
    process = subprocess.Popen(
        [sys.executable, "-m", "marid.testing", str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    addresses = dict(process.stdout.readline().split() for _ in range(3))
    with urllib.request.urlopen(f"{addresses['openai']}/models", timeout=60) as answer:
        assert b'"mine"' in answer.read()
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=60) == ("", "")
    assert process.returncode == 0


def test_an_invalid_script_is_reported_without_a_traceback(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text("{")
    command = [sys.executable, "-m", "marid.testing", str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("marid.testing: the script is not JSON")


def test_a_script_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"cannot read '.*gone\.json'"):
        serve([str(tmp_path / "gone.json")], io.StringIO(), threading.Event())


def test_a_port_may_be_chosen(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"turns": []}')
    over, out = threading.Event(), io.StringIO()
    over.set()
    serve([str(script), "--port", "0"], out, over)
    assert [line.split("\t")[0] for line in out.getvalue().splitlines()] == ["openai", "anthropic", "google"]
