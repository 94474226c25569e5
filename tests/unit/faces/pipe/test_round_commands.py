from typing import Any

import pytest

from fakes.pipe import Answer, Pipe
from fakes.real_app import chat_requests
from marid.app.tool_session import ToolAccess
from marid.core.conversation.records import InboxMessage
from marid.core.policy.policy import Effect
from marid.testing import ModelServer, call, say, unauthorized_error

KEY = "sk-canary-0123456789"

TREE = {"call_tool": {"name": "get_tree", "args": ['{"path": "."}']}}


def at(server: ModelServer, **more: Any) -> dict[str, Any]:
    return {"base_url": server.openai, "model": "scripted-model", "api_key": KEY, **more}


def sent(pipe: Pipe, server: ModelServer, prompt: str = "hi", **more: Any) -> Answer:
    config = at(server, **more.pop("config", {}))
    return pipe({"send_prompt": {"prompt": prompt}}, config=config, **more)


def test_the_answer_is_an_entry_and_no_pieces_of_it_come_before(pipe: Pipe) -> None:
    with ModelServer([say("Hel", "lo", reasoning=("Hmm, let me see.",))]) as server:
        answer = sent(pipe, server)
    assert answer.code == 0
    assert [(entry["entry_type"], entry["to"]) for entry in answer.entries] == [
        ("message", "here"),
        ("message", "user"),
    ]
    assert answer.entries[-1]["content"] == "Hello"
    assert answer.out == answer.entries
    [usage] = answer.events("usage")
    assert (usage["model"], usage["estimated"]) == ("scripted-model", False)
    assert answer.events("round_ended")[0]["reason"] == "answered"
    assert "let me see" not in str((answer.out, answer.err))
    assert "let me see" not in str(pipe({"show_log": {"count": 0}}).out)
    assert "let me see" in (pipe.home / "contexts" / "here" / "transcript" / "active.jsonl").read_text()


def test_tools_are_told_as_events_and_as_entries(pipe: Pipe) -> None:
    (pipe.project / "a.txt").write_text("x")
    with ModelServer([say(calls=[call("get_tree", {"path": "."})]), say("done")]) as server:
        answer = sent(pipe, server)
    kinds = [entry["entry_type"] for entry in answer.entries]
    assert kinds == ["message", "tool_call", "tool_result", "message"]
    [start], [result] = answer.events("tool_start"), answer.events("tool_result")
    assert (start["name"], result["name"], result["cached"]) == ("get_tree", "get_tree", False)
    assert "a.txt" in result["result"]
    assert [event["event"] for event in answer.events("fuel_status")] == ["entering_turn", "after_tool_batch"]


def test_what_needs_an_approval_is_denied_and_granted_by_trust_or_allow(pipe: Pipe) -> None:
    def write(name: str) -> list[Any]:
        return [say(calls=[call("write_file", {"path": name, "content": "x"})]), say("done")]

    grants: list[dict[str, Any]] = [
        {},
        {"flags": {"trust": True}},
        {"reach": ToolAccess(trust=True)},
        {"reach": ToolAccess(allow=frozenset({Effect.WRITE}))},
    ]
    with ModelServer([turn for number in range(4) for turn in write(f"{number}.txt")]) as server:
        answers = [sent(pipe, server, **grant) for grant in grants]
    assert [(pipe.project / f"{number}.txt").exists() for number in range(4)] == [False, True, True, True]
    assert [answer.code for answer in answers] == [0, 0, 0, 0]
    [denied] = answers[0].events("tool_result")
    assert (denied["failed"], "approval" in denied["result"]) == (True, True)
    assert answers[0].events("tool_diagnostic")[0]["tool"] == "write_file"


def test_the_tables_of_config_reach_the_model(pipe: Pipe) -> None:
    config = {"api": {"temperature": 0.25, "max_tokens": 77}, "tools": {"include": ["get_tree"]}}
    with ModelServer([say("ok"), say("ok")]) as server:
        sent(pipe, server, config=config)
        sent(pipe, server, config=config, overrides={"api.temperature": "0.75"})
        first, second = chat_requests(server)
    assert (first.body["temperature"], second.body["temperature"]) == (0.25, 0.75)
    assert first.tools == ("get_tree",)


def test_the_storage_of_config_counts(pipe: Pipe) -> None:
    with ModelServer([say("ok")]) as server:
        sent(pipe, server, config={"storage": {"partition_max_entries": 1}})
    assert list((pipe.home / "contexts" / "here" / "transcript" / "partitions").glob("*.jsonl"))


def test_an_error_of_the_service_has_a_code_and_no_key_in_it(pipe: Pipe) -> None:
    with ModelServer([unauthorized_error()]) as server:
        answer = sent(pipe, server)
    assert (answer.code, answer.done["code"]) == (3, "permission_denied")
    assert KEY not in str(answer.err)
    assert [entry["entry_type"] for entry in answer.entries] == ["message"]


def test_a_key_of_the_wrong_kind_is_not_repeated(pipe: Pipe) -> None:
    answer = pipe("no_op", config={"api_key": 123456789})
    assert (answer.code, answer.done["code"]) == (2, "invalid_input")
    assert "123456789" not in str(answer.err)


def test_fuel_that_is_used_up_is_told_and_is_no_failure(pipe: Pipe) -> None:
    with ModelServer([say(calls=[call("get_tree", {"path": "."})])]) as server:
        answer = sent(pipe, server, overrides={"fuel": "1"})
    assert (answer.code, answer.events("fuel_exhausted")) == (0, [{"type": "fuel_exhausted", "total": 1}])
    assert answer.events("round_ended")[0]["reason"] == "fuel"


def test_the_word_is_forced_to_the_agent(pipe: Pipe) -> None:
    with ModelServer([say("one"), say("two", calls=[call("call_user", {"message": "over"})])]) as server:
        answer = sent(pipe, server, flags={"force_call_agent": True})
        assert len(chat_requests(server)) == 2
    assert answer.events("round_ended")[0]["reason"] == "handed"
    previews = {event["event"]: event.get("prompt_preview") for event in answer.events("fuel_status")}
    assert previews == {"entering_turn": None, "after_continuation": "", "after_tool_batch": None}


def test_what_goes_over_the_wire_is_written_down_when_asked_for(pipe: Pipe) -> None:
    with ModelServer([say("ok")]) as server:
        sent(pipe, server, flags={"debug": ["request_log"]})
    logged = (pipe.home / "contexts" / "here" / "requests.jsonl").read_text()
    assert "scripted-model" in logged
    assert KEY not in logged
    assert not (pipe.home / "contexts" / "here" / "response_meta.jsonl").exists()


def test_a_tool_is_called_without_a_model(pipe: Pipe) -> None:
    (pipe.project / "a.txt").write_text("x")
    assert "a.txt" in pipe({"call_tool": {"name": "get_tree", "args": ['{"path":', '"."}']}}).contents[0]
    assert "no user interface" in pipe({"call_tool": {"name": "get_ui_performance", "args": [" "]}}).done["message"]


def test_a_tool_that_keeps_something_keeps_it_in_the_conversation(pipe: Pipe) -> None:
    pipe({"call_tool": {"name": "update_todos", "args": ['{"content": "- one"}']}})
    assert pipe({"inspect": {"thing": "todos"}}).contents == ["- one"]
    assert pipe({"inspect": {"thing": "todos"}}, "there").contents == ["(not set)"]


@pytest.mark.parametrize(
    ("name", "args", "code", "status"),
    [
        ("no_such_tool", [], "not_found", 4),
        ("get_tree", ["{"], "invalid_input", 2),
        ("get_tree", ["[1]"], "invalid_input", 2),
        ("get_tree", ['{"nonsense": 1}'], "invalid_input", 2),
        ("write_file", ['{"path": "a", "content": "b"}'], "permission_denied", 3),
        ("read_file", ['{"path": "gone.txt"}'], "not_found", 4),
        ("read_file", ['{"path": "/etc/passwd"}'], "permission_denied", 3),
    ],
)
def test_a_call_that_fails_has_the_code_of_its_family(
    pipe: Pipe, name: str, args: list[str], code: str, status: int
) -> None:
    answer = pipe({"call_tool": {"name": name, "args": args}})
    assert (answer.code, answer.done["code"], answer.out) == (status, code, [])


def test_the_result_of_a_call_is_said_to_the_model_when_it_shall_go_on(pipe: Pipe) -> None:
    (pipe.project / "a.txt").write_text("x")
    with ModelServer([say("I see", calls=[call("call_user", {"message": "over"})])]) as server:
        answer = pipe(TREE, config=at(server), flags={"force_call_agent": True})
        assert "a.txt" in chat_requests(server)[0].said
    assert answer.contents == []
    assert answer.code == 0


def test_inboxes_are_processed_in_their_own_conversations(pipe: Pipe) -> None:
    for name in ("b", "c"):
        pipe({"call_tool": {"name": "send_message", "args": [f'{{"to": "{name}", "content": "ping {name}"}}']}})
    with ModelServer([say("pong"), say("pong")]) as server:
        answer = pipe("check_all_inboxes", config=at(server))
        assert ["ping b" in chat_requests(server)[0].said, "ping c" in chat_requests(server)[1].said] == [True, True]
    assert answer.events("inbox_processing") == [
        {"type": "inbox_processing", "count": 1, "context": "b"},
        {"type": "inbox_processing", "count": 1, "context": "c"},
    ]
    assert answer.events("inboxes_processed") == [{"type": "inboxes_processed", "count": 2}]
    assert [event["count"] for event in answer.events("inbox_injected")] == [1, 1]
    assert {entry["to"] for entry in answer.entries if entry["role"] == "user"} == {"b", "c"}
    assert pipe("check_all_inboxes").events("all_inboxes_empty") == [{"type": "all_inboxes_empty"}]


def test_one_that_fails_does_not_keep_the_others_from_their_messages(pipe: Pipe) -> None:
    scope = pipe.scope()
    memory = scope.stores
    for name in ("b", "c", "d", "put-away"):
        memory.inbox.send(InboxMessage("a", name, "do it"))
    memory.conversations.archive("put-away")
    with ModelServer([say("one"), unauthorized_error(), say("three")]) as server:
        answer = pipe("check_all_inboxes", config=at(server))
    assert [event["context"] for event in answer.events("inbox_processing")] == ["b", "c", "d"]
    (failed,) = answer.events("inbox_failed")
    assert (failed["context"], failed["code"]) == ("c", "permission_denied")
    assert answer.events("inboxes_processed")[0]["count"] == 2
    assert (answer.code, answer.done["code"], answer.done["message"]) == (3, "permission_denied", failed["message"])


def test_one_inbox_is_processed(pipe: Pipe) -> None:
    empty = pipe({"check_inbox": {"context": "b"}})
    assert (empty.code, empty.out) == (0, [])
    assert empty.events("inbox_empty") == [{"type": "inbox_empty", "context": "b"}]
    pipe({"call_tool": {"name": "send_message", "args": ['{"to": "b", "content": "ping"}']}})
    with ModelServer([say("pong")]) as server:
        answer = pipe({"check_inbox": {"context": "b"}}, config=at(server))
    assert [event["type"] for event in answer.err].count("inbox_processing") == 1
    assert answer.entries[-1]["content"] == "pong"


def test_a_model_is_set_once_its_provider_knows_it(pipe: Pipe) -> None:
    with ModelServer([]) as server:
        answer = pipe({"set_model": {"model": "scripted-model"}}, config=at(server, model="other"))
        assert answer.events("model_set") == [{"type": "model_set", "model": "scripted-model", "context": "here"}]
        unknown = pipe({"set_model": {"model": "nonsense"}}, config=at(server))
    assert (unknown.code, unknown.done["code"]) == (4, "not_found")
    assert 'model = "scripted-model"' in (pipe.home / "contexts" / "here" / "local.toml").read_text()


def test_what_is_known_of_a_model_is_toml(pipe: Pipe) -> None:
    import tomllib

    with ModelServer([]) as server:
        short = pipe({"model_metadata": {"model": "scripted-model", "full": False}}, config=at(server))
        full = pipe({"model_metadata": {"model": "scripted-model", "full": True}}, config=at(server))
    assert tomllib.loads(short.contents[0])["models"]["scripted-model"]["context_window"] == 128000
    assert "# provider:" in full.contents[0]
    assert tomllib.loads(full.contents[0]) == tomllib.loads(short.contents[0])


def test_a_prompt_that_comes_twice_at_once_is_said_once(pipe: Pipe) -> None:
    scope = pipe.scope()
    with scope.stores.conversations.open("here", create=True):
        answer = pipe({"send_prompt": {"prompt": "hi"}})
    assert (answer.code, answer.done["code"], answer.out) == (6, "already_exists", [])


@pytest.mark.parametrize("name", ["call_user", "call_agent"])
def test_a_tool_that_is_only_for_models_is_not_found(pipe: Pipe, name: str) -> None:
    answer = pipe({"call_tool": {"name": name, "args": ['{"prompt": "x"}']}})
    assert (answer.code, answer.done["code"]) == (4, "not_found")
    assert "is for models" in answer.done["message"]
