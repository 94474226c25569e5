import time
from typing import Any

import pytest

from fakes.pipe import Pipe
from marid.app import conversations
from marid.core.conversation.entry import AGENT, MESSAGE, USER, Entry


def spoken(pipe: Pipe, name: str, *texts: str) -> None:
    scope = pipe.scope()
    with scope.stores.conversations.open(name, create=True) as held:
        for number, text in enumerate(texts):
            role = AGENT if number % 2 else USER
            held.append([Entry(entry_type=MESSAGE, content=text, sender=role, to=name, role=role)])


def test_a_list_makes_nothing(pipe: Pipe) -> None:
    answer = pipe("list_contexts")
    assert (answer.code, answer.out, answer.done) == (0, [], {"type": "done", "ok": True})
    assert not (pipe.home / "contexts" / "here").exists()


def test_every_conversation_is_a_line(pipe: Pipe) -> None:
    spoken(pipe, "a", "x")
    spoken(pipe, "b")
    scope = pipe.scope()
    with scope.stores.conversations.open("b"):
        answer = pipe("list_contexts")
    assert answer.contents == ["a", "b [active]"]
    assert [(line["name"], line["active"], line["archived"]) for line in answer.out] == [
        ("a", False, False),
        ("b", True, False),
    ]


def test_the_current_one_is_that_of_the_request(pipe: Pipe) -> None:
    spoken(pipe, "here", "x", "y")
    [line] = pipe("list_current_context").out
    assert (line["content"], line["messages"], line["summary"]) == ("here, 2 messages", 2, "")
    assert pipe("list_current_context", "nowhere").contents == ["nowhere, 0 messages"]


def test_destroying_needs_no_question_and_a_missing_one_is_gone_already(pipe: Pipe) -> None:
    spoken(pipe, "here", "x")
    spoken(pipe, "other", "x")
    assert pipe({"destroy_context": {"name": "other"}}).contents == ["destroyed 'other'"]
    assert pipe({"destroy_context": {"name": None}}).contents == ["destroyed 'here'"]
    answer = pipe({"destroy_context": {}})
    assert (answer.code, answer.contents) == (0, ["there is no conversation 'here'"])
    assert answer.out[0]["destroyed"] is False
    assert pipe("list_contexts").out == []


def test_one_in_which_somebody_works_is_not_destroyed(pipe: Pipe) -> None:
    spoken(pipe, "here", "x")
    scope = pipe.scope()
    with scope.stores.conversations.open("here"):
        answer = pipe({"destroy_context": {}})
    assert (answer.code, answer.done["code"], answer.out) == (6, "already_exists", [])
    assert pipe("list_contexts").contents == ["here"]


def test_archiving_the_history_empties_the_window(pipe: Pipe) -> None:
    spoken(pipe, "here", "x", "y")
    assert pipe({"archive_history": {}}).contents == ["archived the history of 'here'"]
    assert pipe({"show_log": {"count": 0}}).out == []
    window = (pipe.home / "contexts" / "here" / "context.jsonl").read_text().splitlines()
    assert ["archival" in line for line in window] == [True]
    assert pipe({"archive_history": {}}).contents == ["'here' has no history to archive"]


@pytest.mark.parametrize(
    "command",
    [
        {"archive_history": {"name": "nowhere"}},
        {"inspect": {"context": "nowhere", "thing": "todos"}},
        {"inspect": {"context": "nowhere", "thing": "fuel"}},
    ],
)
def test_a_conversation_that_a_command_names_must_be_there(pipe: Pipe, command: dict[str, object]) -> None:
    answer = pipe(command)
    assert (answer.code, answer.out, answer.done["code"]) == (4, [], "not_found")
    assert pipe(command, "nowhere").code == 0


def test_renaming_says_what_was_done_and_never_overwrites(pipe: Pipe) -> None:
    spoken(pipe, "here", "x")
    spoken(pipe, "taken", "y")
    taken = pipe({"rename_context": {"new": "taken"}})
    assert (taken.code, taken.out, taken.done["code"]) == (2, [], "already_exists")
    assert pipe({"rename_context": {"new": "there"}}).contents == ["renamed 'here' to 'there'"]
    assert pipe({"rename_context": {"old": "there", "new": "here"}}).code == 0
    missing = pipe({"rename_context": {"old": "nowhere", "new": "x"}})
    assert (missing.code, missing.done["code"]) == (4, "not_found")


def test_the_log_is_entries_as_they_are_stored(pipe: Pipe) -> None:
    spoken(pipe, "here", "one", "two", "three")
    whole = pipe({"show_log": {"count": 0}})
    assert [entry["content"] for entry in whole.entries] == ["one", "two", "three"]
    assert [entry["sequence"] for entry in whole.out] == [2, 3, 4]
    assert [entry["content"] for entry in pipe({"show_log": {"count": 2}}).entries] == ["two", "three"]
    assert [entry["content"] for entry in pipe({"show_log": {"count": -1}}).entries] == ["one"]
    assert pipe({"show_log": {"context": "nowhere", "count": 0}}).done["code"] == "not_found"


def test_what_nobody_knows_is_not_set(pipe: Pipe) -> None:
    answer = pipe({"inspect": {"thing": "no such thing"}})
    assert (answer.code, answer.contents) == (0, ["(not set)"])
    assert pipe({"inspect": {"thing": "todos"}}).contents == ["(not set)"]
    assert pipe({"inspect": {"thing": "home"}}).contents == [str(pipe.home)]
    assert pipe({"inspect": {"thing": "prompt"}}).contents == pipe({"inspect": {"thing": "system_prompt"}}).contents


def test_config_and_overrides_are_what_is_inspected(pipe: Pipe) -> None:
    def inspected(thing: str, **more: Any) -> list[str]:
        return pipe({"inspect": {"thing": thing}}, **more).contents

    assert inspected("fuel", config={"fuel": 7}) == ["7"]
    assert inspected("fuel", config={"fuel": 7}, overrides={"fuel": "8"}) == ["8"]
    assert inspected("api.temperature", config={"api": {"temperature": 0.5}}) == ["0.5"]
    assert inspected("storage.partition_max_entries", config={"storage": {"partition_max_entries": 5}}) == ["5"]
    assert inspected("tools.exclude", config={"tools": {"exclude": ["grep_files"]}}) == ["grep_files"]


def test_a_key_is_only_told_to_be_there(pipe: Pipe) -> None:
    answer = pipe({"inspect": {"thing": "api_key"}}, config={"api_key": "sk-canary-1234"})
    assert answer.contents == ["(set)"]


def test_a_file_of_settings_that_makes_no_sense_is_not_taken_for_an_unknown_thing(pipe: Pipe) -> None:
    spoken(pipe, "there", "x")
    (pipe.home / "contexts" / "there" / "local.toml").write_text("fuel = 'much'\n")
    answer = pipe({"inspect": {"context": "there", "thing": "fuel"}})
    assert (answer.code, answer.done["code"]) == (2, "invalid_data")


def test_setting_a_system_prompt_is_an_event(pipe: Pipe) -> None:
    answer = pipe({"set_system_prompt": {"context": "there", "prompt": "Be kind."}})
    told = {"type": "system_prompt_set", "context": "there", "own": True}
    assert (answer.out, answer.events("system_prompt_set")) == ([], [told])
    assert pipe({"inspect": {"context": "there", "thing": "system_prompt"}}).contents == ["Be kind."]
    blank = pipe({"set_system_prompt": {"context": "there", "prompt": " \n"}})
    assert blank.events("system_prompt_set") == [told | {"own": False}]


def test_help_names_every_command_and_the_version_is_a_result(pipe: Pipe) -> None:
    assert pipe("no_op").out == []
    assert pipe("show_version").contents[0].startswith("marid ")
    [words] = pipe("show_help").contents
    assert "send_prompt {prompt}" in words
    assert "no_op" in words


def test_a_conversation_whose_time_has_come_is_destroyed_first(pipe: Pipe) -> None:
    spoken(pipe, "old", "x")
    conversations.expire(pipe.scope(), "old", at=int(time.time()) - 5)
    answer = pipe("list_contexts")
    assert answer.events("auto_destroyed") == [{"type": "auto_destroyed", "count": 1, "names": ["old"]}]
    assert answer.out == []


def test_the_end_of_a_conversation_is_set_by_flags(pipe: Pipe) -> None:
    later = int(time.time()) + 1000
    pipe("no_op", flags={"destroy_at": later, "destroy_after_seconds_inactive": 60})
    scope = pipe.scope()
    assert scope.stores.lifetimes.expiry("here") == (later, 60)
    pipe("no_op", flags={"destroy_at": 0})
    assert scope.stores.lifetimes.expiry("here") == (0, 60)


def test_a_conversation_may_be_named_by_its_id_in_every_field(pipe: Pipe) -> None:
    spoken(pipe, "there", "one")
    id = pipe("list_current_context", "there").out[0]["id"]
    (pipe.home / "contexts" / "there" / "local.toml").write_text("fuel = 7\n")
    assert pipe({"inspect": {"thing": "fuel"}}, id).contents == ["7"]
    assert pipe({"inspect": {"thing": "fuel", "context": id}}).contents == ["7"]
    assert pipe({"set_system_prompt": {"context": id, "prompt": "x"}}).err[-2]["context"] == "there"
    assert pipe({"destroy_context": {"name": id}}).contents == ["destroyed 'there'"]
