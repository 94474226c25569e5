"""Rounds through everything that there is: settings, the store on the disk, the gateway, and a server that answers."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import anyio
import pytest

from fakes import killed_round
from fakes.real_app import RoundRecorder, chat_requests, real_scope, run_prompt, server_flags, stored_entries
from marid.app.app import RequestScope
from marid.app.approvals import answer_approval, pending_approvals
from marid.app.rounds import RoundRequest, run_round
from marid.app.tool_session import ToolAccess
from marid.core.conversation.entry import FAILED, INTERRUPTED, TOOL_CALL, TOOL_RESULT
from marid.core.errors import Exhausted, Unavailable
from marid.core.events import Notice
from marid.core.model_io import RetryScheduled, TextDelta
from marid.core.policy.approval import ApprovalAnswer
from marid.core.policy.policy import Effect
from marid.core.round_events import RoundEnd, UsageReported, WindowWarning
from marid.testing import Cut, Gate, ModelServer, Script, ScriptedModel, Stall, call, malformed_event, rate_limited
from marid.testing import say as says

TRUSTED = ToolAccess(trust=True)


def results(scope: RequestScope, name: str = "c") -> list[str]:
    return [entry.content for entry in stored_entries(scope, name) if entry.entry_type == TOOL_RESULT]


def test_a_round_with_tools_is_one_that_a_strict_provider_takes(tmp_path: Path) -> None:
    made = [call("read_file", {"path": "a"}, id="x"), call("write_file", {"path": "b", "content": "new"}, id="x")]
    script = Script(steps=[says("Let me see.", calls=made), says(calls=made[:1]), says("Do", "ne.")], strict=True)
    scope = real_scope(tmp_path)
    (tmp_path / "project/a").write_text("alpha")
    with ModelServer(script) as server:
        assert run_prompt(scope, "go", flags=server_flags(server), access=TRUSTED) == RoundEnd(
            "answered", stored_entries(scope)[0].round, "Done."
        )
        second = chat_requests(server)[1].body
    assert second is not None
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "tool", "tool"]
    assert second["messages"][2]["content"] == "Let me see."
    assert results(scope) == ["alpha", "Created b: 1 line, 3 bytes", "alpha"]
    assert (tmp_path / "project/b").read_text() == "new"
    ids = [entry.tool_call_id for entry in stored_entries(scope) if entry.entry_type == TOOL_CALL]
    assert len(set(ids)) == 3


def test_tools_are_really_not_sent_where_there_shall_be_none(tmp_path: Path) -> None:
    scope = real_scope(tmp_path)
    with ModelServer([says("a"), says("b"), says("c")]) as server:
        run_prompt(scope, "go", flags=server_flags(server))
        run_prompt(scope, "go", flags={**server_flags(server), "no_tool_calls": True})
        (tmp_path / "home/contexts/c/local.toml").write_text('[tools]\ninclude = ["read_file", "shell_exec"]\n')
        run_prompt(scope, "go", flags=server_flags(server))
    first, second, third = chat_requests(server)
    assert "read_file" in first.tools
    assert second.tools == ()
    assert "tools" not in (second.body or {})
    assert len(third.tools) == 2


def test_thinking_with_tools_works_over_two_requests(tmp_path: Path) -> None:
    thinking = says("Look:", reasoning=["Hm."], signature="c2lnbmVk", calls=[call("read_file", {"path": "a"})])
    scope = real_scope(tmp_path)
    (tmp_path / "project/a").write_text("alpha")
    with ModelServer(Script(steps=[thinking, says("So.")], strict=True)) as server:
        assert run_prompt(scope, "go", flags=server_flags(server, "anthropic")).text == "So."
        body = chat_requests(server)[1].body
    assert body is not None
    blocks = body["messages"][1]["content"]
    assert [block["type"] for block in blocks] == ["thinking", "text", "tool_use"]
    assert blocks[0]["signature"] == "c2lnbmVk"


def test_a_service_that_fails_at_first_is_asked_again_and_every_request_is_accounted_for(tmp_path: Path) -> None:
    heard = RoundRecorder()
    with ModelServer([rate_limited(retry_after=0), says("Yes.")]) as server:
        assert run_prompt(real_scope(tmp_path), "go", heard, flags=server_flags(server)).text == "Yes."
    assert len(heard.of(RetryScheduled)) == len(heard.of(UsageReported)) == 1


def test_a_stream_that_is_cut_leaves_its_part_and_goes_on_when_asked_to(tmp_path: Path) -> None:
    scope = real_scope(tmp_path)
    steps = [says("One, ", "two, ", "three", faults=[Cut(after=2)]), says("three.")]
    with ModelServer(Script(steps=steps, strict=True)) as server:
        with pytest.raises(Unavailable):
            run_prompt(scope, "count", flags=server_flags(server))
        assert [(entry.content[-10:], entry.status) for entry in stored_entries(scope)[1:]] == [("One, two, ", FAILED)]
        assert run_prompt(scope, flags=server_flags(server)).text == "One, two, three."
        assert run_prompt(scope, flags=server_flags(server)).reason == "nothing"
    assert len(chat_requests(server)) == 2


def test_cancelling_closes_the_connection_keeps_what_there_is_and_is_quick(tmp_path: Path) -> None:
    scope, gate, heard = real_scope(tmp_path), Gate(), RoundRecorder()
    with ModelServer([says("One, ", "two", faults=[Stall(gate=gate, after=1)])]) as server:
        saying = RoundRequest(prompt="count", conversation="c")

        async def main() -> float:
            began = 0.0
            async with anyio.create_task_group() as group:
                group.start_soon(run_round, scope.within("c", server_flags(server)), saying, heard)
                while not heard.of(TextDelta):
                    await anyio.lowlevel.checkpoint()
                began = time.monotonic()
                group.cancel_scope.cancel()
            return time.monotonic() - began

        assert anyio.run(main) < 3.0
        assert server.wait_for_end(chat_requests(server)[0].number) == "left"
    assert [(entry.content, entry.status) for entry in stored_entries(scope)[1:]] == [("One, ", INTERRUPTED)]
    assert len(heard.of(UsageReported)) == 1


def test_several_conversations_run_at_once_each_with_its_own_model_settings_policy_and_roots(tmp_path: Path) -> None:
    """None of the three answers before the others have been asked."""
    names = ("a", "b", "c")
    gates = {name: Gate() for name in names}
    scope = real_scope(tmp_path)
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(f"of {name}")

    def first(name: str) -> object:
        made = [call("read_file", {"path": "file"}), call("write_file", {"path": "new", "content": name})]
        return says(f"I am {name}.", calls=made, faults=[Stall(gate=gates[name])])

    async def main(servers: dict[str, ModelServer]) -> dict[str, RoundEnd]:
        ends: dict[str, RoundEnd] = {}

        async def one(name: str, reach: ToolAccess) -> None:
            flags = {**server_flags(servers[name]), "model": f"model-{name}", "fuel": 10 + names.index(name)}
            request = RoundRequest(prompt="go", conversation=name, access=reach)
            ends[name] = await run_round(scope.within(name, flags), request, RoundRecorder())

        async with anyio.create_task_group() as group:
            for name in names:
                allow = frozenset({Effect.WRITE}) if name == "b" else frozenset[Effect]()
                group.start_soon(one, name, ToolAccess(roots=(str(tmp_path / name),), allow=allow))
            for name in names:
                assert await anyio.to_thread.run_sync(gates[name].wait, 20.0)
            for name in names:
                gates[name].release()
        return ends

    servers = {name: ModelServer([first(name), says(f"Done {name}.")]) for name in names}  # pyright: ignore[reportArgumentType]
    with servers["a"], servers["b"], servers["c"]:
        ends = anyio.run(main, servers)
    for name, server in servers.items():
        assert ends[name].text == f"Done {name}."
        assert results(scope, name)[0] == f"of {name}"
        assert (tmp_path / name / "new").exists() is (name == "b")
        assert {request.model for request in chat_requests(server)} == {f"model-{name}"}
        assert f"{10 + names.index(name)} of" in chat_requests(server)[0].system


def killed(place: Path, mode: str) -> RequestScope:
    """The program again, after it was killed in the middle of a round."""
    project, home = place / "project", place / "home"
    project.mkdir()
    path = os.pathsep.join([str(Path(killed_round.__file__).parents[1]), *sys.path])
    command = [sys.executable, killed_round.__file__, mode, str(home), str(project)]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": path}, timeout=60, check=False)
    assert done.returncode == -signal.SIGKILL
    return killed_round.app_at(str(home), str(project))


def test_a_question_that_was_answered_after_a_kill_is_not_asked_again(tmp_path: Path) -> None:
    scope = killed(tmp_path, "asked")
    (question,) = pending_approvals(scope)
    answer_approval(scope, question.question.id, ApprovalAnswer.YES)
    with ModelServer(Script(steps=[says("Written.")], strict=True)) as server:
        assert run_prompt(scope, flags=server_flags(server), access=ToolAccess(wait=True)).text == "Written."
    assert (tmp_path / "project/new").read_text() == "one"
    assert pending_approvals(scope) == []


@pytest.mark.parametrize("mode", ["calls", "started", "deed", "body"])
def test_a_round_that_was_killed_goes_on_without_repeating_what_had_begun(tmp_path: Path, mode: str) -> None:
    scope, project = killed(tmp_path, mode), tmp_path / "project"
    before = stored_entries(scope)
    done = (project / "new").exists() or (project / "struck").exists()
    assert done is (mode in ("deed", "body"))
    with ModelServer(Script(steps=[says("Looked.")], strict=True)) as server:
        assert run_prompt(scope, flags=server_flags(server), access=TRUSTED).text == "Looked."
    (result,) = results(scope)
    if mode == "calls":
        assert result.startswith("Created new")
        assert (project / "new").read_text() == "one"
    else:
        assert "interrupted" in result
        assert "may or may not" in result
    if mode == "body":
        assert (project / "struck").read_text() == "once\n"
    assert (project / "new").exists() is (mode in ("calls", "deed"))
    assert stored_entries(scope)[: len(before)] == before
    assert result in chat_requests(server)[0].results[0].text


def test_a_history_of_the_other_program_is_gone_on_with(tmp_path: Path) -> None:
    folder = tmp_path / "home/contexts/c"
    folder.mkdir(parents=True)
    rows = [
        ("message", "user", "c", "first", None),
        ("tool_call", "c", "file_head", '{"path": "a"}', None),
        ("tool_result", "file_head", "c", "alpha", None),
        ("tool_call", "c", "look", "{", "1"),
        ("tool_call", "c", "look", "{}", "1"),
        ("tool_result", "look", "c", "x", "9"),
        ("flow_control_call", "c", "call_user", "{}", "2"),
        ("message", "c", "user", "an answer", None),
        ("tool_result", "look", "c", "stray", "7"),
    ]
    lines = [
        {"id": f"e{n}", "timestamp": 1700000000 + n, "entry_type": kind, "from": sender, "to": to, "content": text}
        | ({"tool_call_id": id} if id else {})
        for n, (kind, sender, to, text, id) in enumerate(rows)
    ]
    (folder / "transcript.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    scope = real_scope(tmp_path)
    with ModelServer(Script(steps=[says("Yes.")] * 3, strict=True)) as server:
        for dialect in ("openai", "anthropic", "google"):
            assert run_prompt(scope, "go", flags=server_flags(server, dialect)).text == "Yes."


def test_a_conversation_sends_another_a_message_that_it_reads_before_its_next_prompt(tmp_path: Path) -> None:
    sending = says(calls=[call("send_message", {"to": "d", "content": "Look out!"})])
    scope = real_scope(tmp_path)
    with ModelServer([sending, says("Sent."), says("Read.")]) as server:
        run_prompt(scope, "tell d", flags=server_flags(server))
        run_prompt(scope, "news?", flags=server_flags(server), conversation="d")
    assert "--- INBOX MESSAGES ---\n[From: c] Look out!\n--- END INBOX ---\n\nnews?" in chat_requests(server)[2].said


def test_notes_of_the_model_are_in_its_next_system_prompt(tmp_path: Path) -> None:
    noting = says(calls=[call("update_todos", {"content": "- water the plants"})])
    scope = real_scope(tmp_path)
    with ModelServer([noting, says("Noted."), says("Yes.")]) as server:
        run_prompt(scope, "note it", flags=server_flags(server))
        run_prompt(scope, "and?", flags=server_flags(server))
    assert "water the plants" not in chat_requests(server)[1].system
    assert "--- CURRENT TODOS ---\n- water the plants" in chat_requests(server)[2].system


def test_warnings_and_the_end_of_the_window_go_by_the_conversations_own_limit(tmp_path: Path) -> None:
    scope, heard = real_scope(tmp_path), RoundRecorder()
    with ModelServer([says("Yes.")]) as server:
        flags = {**server_flags(server), "no_tool_calls": True}
        scope.stores.conversations.create("c")
        local = tmp_path / "home/contexts/c/local.toml"
        local.write_text("context_window_limit = 100\nwarn_threshold_percent = 5\n")
        run_prompt(scope, "go", heard, flags=flags)
        assert [what.limit for what in heard.of(WindowWarning)] == [100]
        local.write_text("context_window_limit = 5\n")
        with pytest.raises(Exhausted, match="Run `marid clear`"):
            run_prompt(scope, "go", flags=flags)
    assert len(chat_requests(server)) == 1


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "google"])
def test_a_damaged_answer_is_kept_as_failed_and_none_of_its_calls_is_made(tmp_path: Path, dialect: str) -> None:
    scope, heard = real_scope(tmp_path), RoundRecorder()
    made = call("write_file", {"path": "keep/a.txt", "content": "new"}, pieces=4)
    with ModelServer([says("Do ", "it.", calls=[made], faults=[malformed_event(after=1)]), says("no")]) as server:
        with pytest.raises(Unavailable, match="part of the answer is lost"):
            run_prompt(scope, "go", heard, flags=server_flags(server, dialect), access=TRUSTED)
        assert len(chat_requests(server)) == 1
    (_, words) = stored_entries(scope)
    assert (words.content, words.status) == ("Do ", FAILED)
    assert heard.of(TextDelta) == [TextDelta("Do ")]
    assert list((tmp_path / "project").iterdir()) == []


@pytest.mark.parametrize("blank", ["\n\n", "   ", "\n \t\n"])
def test_blanks_before_a_call_and_blanks_alone_are_no_words(tmp_path: Path, blank: str) -> None:
    scope, heard = real_scope(tmp_path), RoundRecorder()
    turns = [says(blank, calls=[call("get_tree", {"path": "."})]), says(blank), says("Do", "ne.")]
    with ModelServer(turns) as server:
        assert run_prompt(scope, "go", heard, flags=server_flags(server)).text == "Done."
    assert "".join(what.text for what in heard.of(TextDelta)) == "Done."


def test_a_setting_that_the_model_does_not_take_is_told_once_in_a_round(tmp_path: Path) -> None:
    heard = RoundRecorder()
    with ModelServer([says(calls=[call("get_tree", {"path": "."})]), says("Done.")]) as server:
        settings = {"api.temperature": 0.3, "api.reasoning.effort": "low"}
        run_prompt(real_scope(tmp_path), "go", heard, flags={**server_flags(server, "anthropic"), **settings})
    assert [note.text for note in heard.of(Notice) if "api.temperature" in note.text] == [
        "model 'scripted-model' does not accept api.temperature with these settings: not sent"
    ]


def test_a_window_that_only_the_provider_knows_bounds_a_request(tmp_path: Path) -> None:
    scope, heard = real_scope(tmp_path), RoundRecorder()
    model = "nobody-knows-it"
    script = Script(steps=[says("Yes.")] * 2, models=[ScriptedModel(id=model, context=40_000)])
    with ModelServer(script) as server:
        flags = {**server_flags(server), "model": model, "no_tool_calls": True}
        run_prompt(scope, "short", flags=flags)
        assert [request.method for request in server.requests] == ["POST"]
        run_prompt(scope, "word " * 27_000, heard, flags=flags)
        assert [what.limit for what in heard.of(WindowWarning)] == [40_000]
        with pytest.raises(Exhausted, match=f"'{model}' takes 40,000"):
            run_prompt(scope, "word " * 27_000, flags=flags)
    assert [request.method for request in server.requests] == ["POST", "GET", "POST", "GET"]


def test_a_model_that_was_found_in_a_list_is_not_looked_for_there_again(tmp_path: Path) -> None:
    with ModelServer(Script(steps=[says("Yes.")], models=[ScriptedModel(id="mine", context=40_000)])) as server:
        assert run_prompt(real_scope(tmp_path), "go", flags={**server_flags(server), "model": ""}).text == "Yes."
        assert [request.method for request in server.requests] == ["GET", "POST"]


def test_a_models_own_window_bounds_tools_and_system_prompt_too(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home/models.toml").write_text('[models."scripted-model"]\ncontext_window = 2000\n')
    scope = real_scope(tmp_path)
    with ModelServer([says("Yes.")]) as server:
        for limit in (0, 50_000):
            with pytest.raises(Exhausted, match="'scripted-model' takes 2,000"):
                run_prompt(scope, "go", flags={**server_flags(server), "context_window_limit": limit})
        assert chat_requests(server) == []
        assert run_prompt(scope, "go", flags={**server_flags(server), "no_tool_calls": True}).reason == "answered"


def test_logs_of_the_wire_are_kept_without_the_key(tmp_path: Path) -> None:
    scope = real_scope(tmp_path)
    with ModelServer([says("Yes.")]) as server:
        run_prompt(scope, "go", flags=server_flags(server), debug=frozenset({"request-log", "response-meta"}))
    texts = [(tmp_path / "home/contexts/c" / name).read_text() for name in ("requests.jsonl", "response_meta.jsonl")]
    asked, answered = (json.loads(text) for text in texts)
    assert asked["request"] == chat_requests(server)[0].body
    assert answered["response"]["usage"] == {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    assert isinstance(asked["timestamp"], int)
    assert isinstance(answered["timestamp"], int)
    assert not any("canary" in text for text in texts)


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "google"])
def test_a_model_reads_failures_in_plain_words(tmp_path: Path, dialect: str) -> None:
    made = [call("read_file", {"path": "gone"}), call("no_such_tool", {})]
    with ModelServer(Script(steps=[says(calls=made), says("Oh.")], strict=True)) as server:
        run_prompt(real_scope(tmp_path), "go", flags=server_flags(server, dialect))
        assert [result.text for result in chat_requests(server)[1].results] == [
            "ERROR: gone: not found",
            "ERROR: no tool is called 'no_such_tool'",
        ]


def test_a_line_that_cannot_be_read_is_told_by_its_place_and_left_out(tmp_path: Path) -> None:
    scope = real_scope(tmp_path)
    run_prompt(scope, "hello")
    active = tmp_path / "home/contexts/c/transcript/active.jsonl"
    first, rest = active.read_bytes().split(b"\n", 1)
    active.write_bytes(first + b"\nnonsense\n" + rest)
    heard = RoundRecorder()
    run_prompt(scope, "hello again", heard)
    assert [what.text for what in heard.of(Notice)] == [f"line 2 of '{active}' cannot be read and is left out"]
