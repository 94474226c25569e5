from collections.abc import Sequence
from pathlib import Path

import pytest

from marid.core.policy.approval import QuestionKind
from marid.core.policy.policy import Effect
from marid.ports.processes import SandboxState
from marid.toolkit.outcome import CommandPlan, PlannedChange, ToolOutput
from marid.toolkit.questions import (
    Preview,
    call_preview,
    command_preview,
    content_digest,
    edit_preview,
    outside_preview,
)
from marid.toolkit.spec import ToolSpec
from marid.workspace.guard.api import PathScope


def _spec(name: str, effect: Effect) -> ToolSpec:
    return ToolSpec(name=name, family="files", effect=effect, body=lambda: ToolOutput(text=""))


WRITE, RUN = _spec("write_file", Effect.WRITE), _spec("run_shell", Effect.EXEC)


@pytest.fixture
def territory(tmp_path: Path) -> PathScope:
    return PathScope([str(tmp_path)])


def _edit(
    territory: PathScope, before: bytes | None, after: bytes, name: str = "a.py", later: Sequence[str] = ()
) -> Preview:
    change = PlannedChange(path=territory.resolve(name), before=before, after=after)
    return edit_preview(WRITE, [change], later)


def _command(
    territory: PathScope, shown: str, cwd: str = ".", *, confined: bool = True, network: bool = False
) -> Preview:
    run = CommandPlan(argv=("sh", "-c", shown), display=shown, cwd=territory.resolve(cwd), network=network)
    return command_preview(RUN, run, SandboxState(confined=confined, reason="" if confined else "no bubblewrap"))


def test_an_edit_is_shown_as_a_diff(territory: PathScope, tmp_path: Path) -> None:
    preview = _edit(territory, b"old\n", b"new\n")
    assert preview.text == f"1 file in {tmp_path}\n--- a.py\n+++ a.py\n@@ -1 +1 @@\n-old\n+new"
    assert (preview.kind, preview.grant, preview.always) == (QuestionKind.EDIT, "tool:write_file", True)


def test_several_files_are_counted_and_all_shown(territory: PathScope) -> None:
    changes = [PlannedChange(path=territory.resolve(name), before=None, after=b"x\n") for name in ("a", "b")]
    text = edit_preview(WRITE, changes, []).text
    assert text.startswith("2 files in ")
    assert "+++ a\n" in text
    assert "+++ b\n" in text


def test_files_of_two_roots_are_named_whole(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    both = PathScope([f"{tmp_path}/one", f"{tmp_path}/two"])
    changes = [
        PlannedChange(path=both.resolve(f"{tmp_path}/{name}/a"), before=None, after=b"x\n") for name in ("one", "two")
    ]
    text = edit_preview(WRITE, changes, []).text
    assert text.startswith(f"2 files in {tmp_path}/one and {tmp_path}/two\n")
    assert f"+++ {tmp_path}/two/a\n" in text


def test_what_will_be_run_later_is_told_and_never_allowed_always(territory: PathScope) -> None:
    preview = _edit(territory, None, b"", "conftest.py", ["'conftest.py' is run by pytest"])
    assert "CAREFUL: 'conftest.py' is run by pytest" in preview.text
    assert not preview.always


def test_what_deceives_the_eye_is_escaped_and_warned_of(territory: PathScope) -> None:
    text = _edit(territory, b"", "x = '\u202e\x1b[2J\u200b'\n".encode(), "a\x1b.py").text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "+x = '\\u202e\\x1b[2J\\u200b'" in text
    assert '+++ "a\\033.py"' in text
    assert "CAREFUL: there are control characters and characters that turn" in text


def test_the_line_ends_of_windows_are_shown_without_alarm(territory: PathScope) -> None:
    text = _edit(territory, b"", b"x\r\n").text
    assert "+x\\r" in text
    assert "CAREFUL" not in text


def test_nothing_of_an_edit_is_cut(territory: PathScope) -> None:
    long = b"".join(b"%d\n" % number for number in range(9000))
    assert _edit(territory, None, long + b"last\n").text.endswith("+8999\n+last")
    assert "x" * 50_000 in _edit(territory, None, b"x" * 50_000).text


def test_the_plan_of_an_edit_is_what_it_was_made_from_and_what_it_makes(territory: PathScope, tmp_path: Path) -> None:
    assert _edit(territory, None, b"x").plan == [[str(tmp_path), "a.py", "none", content_digest(b"x")]]
    assert _edit(territory, b"y", b"x").plan != _edit(territory, b"z", b"x").plan


def test_a_command_is_shown_with_its_folder(territory: PathScope, tmp_path: Path) -> None:
    preview = _command(territory, "ls\nrm x", "sub")
    assert preview.text == f"in {tmp_path}/sub\n$ ls\n  rm x\n(no network, at most 60 s)"
    assert preview.always
    assert "(with network," in _command(territory, "ls", network=True).text


def test_without_a_sandbox_that_is_told_and_always_is_not_offered(territory: PathScope) -> None:
    preview = _command(territory, "ls", confined=False)
    assert "CAREFUL: nothing confines this command: there is no sandbox here (no bubblewrap)" in preview.text
    assert not preview.always


def test_always_means_this_command_in_this_folder_and_no_other(territory: PathScope) -> None:
    grants = [
        _command(territory, "ls").grant,
        _command(territory, "ls; rm -rf x").grant,
        _command(territory, "ls", "sub").grant,
        _command(territory, "ls ").grant,
        _command(territory, "ls", network=True).grant,
    ]
    run = CommandPlan(argv=("sh", "-c", "ls"), display="ls", cwd=territory.resolve("."), timeout=5.0)
    assert command_preview(RUN, run, SandboxState(confined=True)).grant == grants[0]
    assert len(set(grants)) == 5
    assert _command(territory, "ls").grant == grants[0]


def test_nothing_of_a_command_is_cut(territory: PathScope) -> None:
    assert "x" * 100_000 in _command(territory, "x" * 100_000).text


def test_always_says_exactly_what_it_covers(territory: PathScope, tmp_path: Path) -> None:
    assert _command(territory, "ls -l").covers == f"exactly `ls -l` in {tmp_path}, no network"
    edits = "every edit by write_file, except of files that other programs run by themselves"
    assert _edit(territory, None, b"x").covers == edits
    fetch = call_preview(_spec("fetch_url", Effect.NET), {"url": "https://A.org/x"}, "A.org")
    assert fetch.covers == "every request to a.org"
    assert call_preview(_spec("spawn", Effect.SPAWN), {}, "").covers == "every call of spawn"


def test_a_look_alike_in_a_command_is_warned_of(territory: PathScope) -> None:
    assert "letters of several alphabets" in _command(territory, "curl p\u0430ypal.com").text


def test_a_fetch_names_host_and_arguments() -> None:
    preview = call_preview(_spec("fetch_url", Effect.NET), {"url": "https://A.org/x\ny", "max": 5}, "A.org")
    assert preview.text == "A.org\nurl: https://A.org/x\ny\nmax: 5"
    assert (preview.kind, preview.grant) == (QuestionKind.FETCH, "host:a.org")


def test_a_path_outside_is_shown_whole() -> None:
    preview = outside_preview("/etc/\x1bhosts", "/etc/\x1bhosts", writes=False)
    assert "/etc/\\x1bhosts" in preview.text
    assert (preview.kind, preview.grant, preview.always) == (QuestionKind.OUTSIDE, "path:/etc/\x1bhosts", False)


def test_the_hint_names_the_flag() -> None:
    hints = {kind: Preview(kind, "", "", "", always=True).grant_hint for kind in QuestionKind}
    assert "--allow write" in hints[QuestionKind.EDIT]
    assert "marid allow" in hints[QuestionKind.OUTSIDE]
    assert "--trust" in Preview(QuestionKind.EDIT, "", "", "", always=False).grant_hint
    assert "--allow exec" in Preview(QuestionKind.COMMAND, "", "", "", always=False).grant_hint
