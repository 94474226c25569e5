import json
from pathlib import Path

import pytest

from fakes.real_app import add_call, add_entries, add_messages, real_scope
from marid.app.app import RequestScope
from marid.app.export import FORMS, export
from marid.core.conversation.entry import MESSAGE, Entry
from marid.core.errors import BadInput, NotFound
from marid.text.display import format_timestamp

HOSTILE = '<script>alert("x")</script> & \x1b[2J'


def hand_over(tool: str, arguments: str) -> list[Entry]:
    return [
        Entry(entry_type="flow_control_call", content=arguments, sender="talk", to=tool, tool_call_id="9"),
        Entry(entry_type="flow_control_result", content="done", sender=tool, to="talk", tool_call_id="9"),
    ]


@pytest.fixture
def scope(tmp_path: Path) -> RequestScope:
    scope = real_scope(tmp_path)
    add_messages(scope, "talk", "what is **this**?", "an answer\nin two lines")
    add_call(scope, "talk", "read_file", '{"path": "a"}', "```\ncode\n```")
    add_entries(scope, "talk", [Entry(entry_type=MESSAGE, content=HOSTILE, sender="<b>", to="x", status="interrupted")])
    return scope


def test_markdown_has_who_said_what_and_nothing_ends_a_block_early(scope: RequestScope) -> None:
    text = export(scope, "talk")
    assert text.startswith("# ")
    assert "## ann · " in text
    assert "an answer\nin two lines" in text
    assert 'Call of read_file\n\n```\n{"path": "a"}\n```' in text
    assert "Result of read_file\n\n````\n```\ncode\n```\n````" in text
    assert "(interrupted)" in text


def test_what_a_model_says_by_a_call_is_said_in_an_export(scope: RequestScope) -> None:
    add_entries(
        scope, "talk", hand_over("call_user", '{"message": "Which one?"}') + hand_over("call_agent", '{"prompt": "on"}')
    )
    assert "## talk · " in export(scope, "talk")
    assert "\n\nWhich one?\n\nCall of call_agent" in export(scope, "talk")
    assert "<pre>Which one?</pre>" in export(scope, "talk", "html")
    assert "flow control" not in export(scope, "talk") + export(scope, "talk", "html")


def test_json_has_every_field(scope: RequestScope) -> None:
    found = json.loads(export(scope, "talk", "json"))
    assert found["conversation"]["name"] == "talk"
    kinds = [entry["entry_type"] for entry in found["entries"]]
    assert kinds == ["context_created", "message", "message", "tool_call", "tool_result", "message"]
    assert found["entries"][-1]["content"] == HOSTILE


def test_html_needs_nothing_else_and_everything_in_it_is_escaped(scope: RequestScope) -> None:
    page = export(scope, "talk", "html")
    assert page.startswith("<!doctype html>")
    assert "<script" not in page
    assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp;" in page
    assert "&lt;b&gt; <time>" in page
    assert "http" not in page
    assert "<details><summary>Call of read_file</summary>" in page


def test_the_window_or_all_that_was_ever_said(scope: RequestScope) -> None:
    with scope.stores.conversations.open("talk") as held:
        held.clear()
        held.write_note("system_prompt", "Be brief.")
    add_messages(scope, "talk", "new")
    for form in FORMS:
        assert "two lines" not in export(scope, "talk", form)
        assert "two lines" in export(scope, "talk", form, whole=True)
    assert "Be brief." not in export(scope, "talk", "markdown", whole=True)
    assert "Be brief." not in export(scope, "talk", "html", whole=True)


def test_a_form_or_conversation_that_is_not_there_is_told(scope: RequestScope) -> None:
    with pytest.raises(BadInput, match="markdown, json, html"):
        export(scope, "talk", "pdf")
    with pytest.raises(NotFound):
        export(scope, "gone")


def test_never_is_no_time() -> None:
    assert format_timestamp(0) == ""
