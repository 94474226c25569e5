"""Every flag about conversations, its long form and its command, through the real program on a home of its own."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fakes.program import Outcome, Program, marid
from fakes.real_app import add_call, add_entries, add_messages, add_note
from fakes.terminal import TerminalSession
from marid.bootstrap.wiring import open_request
from marid.core.conversation.entry import Entry

__all__ = ["marid"]


def home() -> Path:
    return Path(os.environ["MARID_HOME"])


def session() -> tuple[str, str | None]:
    found = json.loads((home() / "session.json").read_text())
    return found["implied_context"], found["previous_context"]


def names() -> list[str]:
    return sorted(os.listdir(home() / "contexts")) if (home() / "contexts").exists() else []


@pytest.fixture
def used(marid: Program) -> Program:
    """A home in which `work` is current, `default` was before, and `play` is there too."""
    for name in ("default", "work", "play"):
        add_messages(open_request(), name, f"said in {name}", "an answer")
    add_call(open_request(), "work", "get_tree", '{"path": "."}', "a tree")
    add_note(open_request(), "work", "todos", "- tidy")
    add_note(open_request(), "play", "goals", "- win")
    assert marid("-c", "work", "-x").code == 0
    return marid


def outcome(told: Outcome) -> tuple[int, str, str]:
    return told.code, told.text, told.err


SAME: dict[str, Sequence[Sequence[str]]] = {
    "show": [["-l"], ["--list-current-context"], ["conversations", "show"], ["-C", "work", "conversations", "show"]],
    "list": [["-L"], ["--list-contexts"], ["conversations"], ["conversations", "list"]],
    "log": [["-g", "2"], ["-g2"], ["--show-current-log", "2"], ["log", "-n", "2"], ["log", "work", "--count", "2"]],
    "first": [["-g", "-1"], ["-g-1"], ["--show-current-log=-1"], ["log", "-n", "-1"]],
    "log of another": [["-G", "play", "0"], ["-Gplay", "0"], ["--show-log", "play", "0"], ["log", "play"]],
    "the previous one": [["-G", "-", "0"], ["log", "-", "-n", "0"], ["log", "default"]],
    "inspect": [["-n", "todos"], ["-ntodos"], ["--inspect-current", "todos"], ["inspect", "todos"]],
    "inspect another": [["-N", "play", "goals"], ["--inspect", "play", "goals"], ["inspect", "play", "goals"]],
    "a setting": [["-n", "fuel"], ["inspect", "fuel"], ["-C", "play", "-n", "fuel"]],
    "model": [["--model-metadata", "offline:offline"], ["model-info", "offline:offline"]],
    "whole model": [["--model-metadata-full", "offline:offline"], ["model-info", "--full", "offline:offline"]],
    "tool": [["-P", "todo_tool", "{}"], ["--call-tool", "todo_tool", "{}"]],
    "help": [["-h"], ["--help"]],
    "version": [["-V"], ["--version"]],
}


@pytest.mark.parametrize("same", SAME.values(), ids=SAME)
def test_a_flag_its_long_form_and_its_command_show_the_same(used: Program, same: Sequence[Sequence[str]]) -> None:
    first, *others = [outcome(used(*args)) for args in same]
    assert first[1] or first[0]
    assert [other for other in others if other != first] == []


CHANGES: dict[str, Sequence[Sequence[str]]] = {
    "clear": [["-a"], ["--archive-current-history"], ["clear"]],
    "clear another": [["-A", "play"], ["-Aplay"], ["--archive-history", "play"], ["clear", "play"]],
    "rename": [["-r", "new-name"], ["--rename-current-context", "new-name"], ["conversations", "rename", "new-name"]],
    "rename another": [
        ["-R", "play", "fun"],
        ["--rename-context", "play", "fun"],
        ["conversations", "rename", "play", "fun"],
    ],
    "destroy": [["-d", "--yes"], ["--destroy-current-context", "--yes"], ["conversations", "destroy", "work", "--yes"]],
    "destroy another": [["-D", "play", "--yes"], ["-Dplay", "--yes"], ["conversations", "destroy", "play", "--yes"]],
    "switch": [["-c", "play", "-x"], ["--switch-context", "play", "-x"], ["conversations", "switch", "play"]],
    "model": [["-m", "offline:offline"], ["--set-model", "offline:offline"], ["set", "model", "offline:offline"]],
    "model of another": [
        ["-M", "play", "offline:offline"],
        ["--set-model-for-context", "play", "offline:offline"],
        ["set", "-C", "play", "model", "offline:offline"],
    ],
    "prompt": [
        ["-y", "Be brief."],
        ["--set-current-system-prompt", "Be brief."],
        ["set", "system-prompt", "Be brief."],
    ],
    "prompt of another": [
        ["-Y", "play", "Be brief."],
        ["--set-system-prompt", "play", "Be brief."],
        ["set", "-C", "play", "system-prompt", "Be brief."],
    ],
    "username": [["-u", "ann"], ["-uann"], ["--set-username", "ann"], ["set", "username", "ann"]],
    "end": [
        ["-C", "play", "--destroy-at", "4000000000", "-x"],
        ["conversations", "expire", "play", "--at", "4000000000"],
    ],
    "end after": [
        ["-C", "play", "--destroy-after-inactive", "60", "-x"],
        ["conversations", "expire", "play", "--after", "60"],
    ],
}


def left() -> dict[str, object]:
    """What a home holds, without times and ids."""
    known = {
        place.relative_to(home()).as_posix(): re.sub(r'"?[0-9a-f-]{36}"?|\d{10,}', "#", place.read_text())
        for place in sorted(home().rglob("*"))
        if place.is_file() and place.suffix in (".toml", ".md", ".jsonl")
    }
    rows = json.loads((home() / "state.json").read_text())["contexts"]
    ends = [(row["name"], row["destroy_at"], row["destroy_after_seconds_inactive"]) for row in rows]
    return {**known, "names": names(), "session": session(), "ends": ends}


@pytest.mark.parametrize(("what", "number"), [(what, n) for what, same in CHANGES.items() for n in range(1, len(same))])
def test_a_flag_its_long_form_and_its_command_do_the_same(used: Program, what: str, number: int) -> None:
    before = left()
    copy = home().parent / "copy"
    os.rename(home(), copy)
    found: list[tuple[object, object]] = []
    for args in (CHANGES[what][0], CHANGES[what][number]):
        shutil.rmtree(home(), ignore_errors=True)
        shutil.copytree(copy, home())
        told = used(*args)
        assert told.out == b""
        found.append((outcome(told), left()))
    assert found[0] == found[1]
    assert found[0][1] != before


def test_a_dash_swaps_the_current_and_the_previous_one(used: Program) -> None:
    assert session() == ("work", "default")
    used("-c", "-", "-x")
    assert session() == ("default", "work")
    used("-c-", "-x")
    assert session() == ("work", "default")
    used("conversations", "switch", "-")
    assert session() == ("default", "work")


def test_switching_to_the_same_one_keeps_the_previous(used: Program) -> None:
    used("-c", "work", "-x")
    assert session() == ("work", "default")


def test_without_a_previous_one_a_dash_is_refused(marid: Program) -> None:
    told = marid("-c", "-", "hello")
    assert (told.code, told.out) == (2, b"")
    assert "no previous conversation" in told.err


def test_one_for_this_run_only_is_not_kept(used: Program) -> None:
    assert used("-C", "play", "-l").lines[0] == "play"
    assert used("--ephemeral-context", "-", "-l").lines[0] == "default"
    assert used("-C", "play", "-L").lines[1].startswith("* play")
    assert session() == ("work", "default")
    assert "offline" in used("-C", "fourth", "hello").text
    assert session() == ("work", "default")
    assert "fourth" in names()


def test_renaming_the_current_or_the_previous_one_is_known_to_the_session(used: Program) -> None:
    used("-r", "job")
    assert session() == ("job", "default")
    used("-R", "default", "first")
    assert session() == ("job", "first")
    assert names() == ["first", "job", "play"]


def test_a_name_that_is_taken_is_refused(used: Program) -> None:
    told = used("-r", "play")
    assert (told.code, told.out) == (2, b"")
    assert "'play' already" in told.err
    assert names() == ["default", "play", "work"]


def test_destroying_the_current_one_falls_back_to_the_previous_and_then_to_the_default(used: Program) -> None:
    used("-d", "--yes")
    assert session() == ("default", None)
    used("-c", "play", "-x")
    used("-D", "default", "--yes")
    used("-d", "--yes")
    assert session() == ("default", None)
    assert names() == []


@pytest.mark.parametrize(
    "args",
    [
        *(["-D", "gone", "--yes"], ["conversations", "destroy", "gone", "--yes"], ["-C", "gone", "-d", "--yes"]),
        *(["-R", "gone", "play"], ["conversations", "rename", "gone", "play"], ["-A", "gone"], ["clear", "gone"]),
        *(["-M", "gone", "offline:offline"], ["set", "-C", "gone", "model", "offline:offline"], ["-Y", "gone", "Be."]),
        *(["set", "-C", "gone", "system-prompt", "Be."], ["set", "-C", "gone", "fuel", "3"]),
        *(["conversations", "archive", "gone"], ["conversations", "restore", "gone"]),
        *(["-N", "gone", "todos"], ["inspect", "gone", "fuel"], ["-G", "gone", "0"]),
    ],
    ids=" ".join,
)
def test_what_is_not_there_is_not_found_and_not_made(used: Program, args: list[str]) -> None:
    told = used(*args)
    assert (told.code, told.out, told.err) == (4, b"", "marid: there is no conversation 'gone'\n")
    assert names() == ["default", "play", "work"]


@pytest.mark.parametrize("name", ["new", "-"])
@pytest.mark.parametrize(
    "args",
    [
        *(["-r", "NAME"], ["-R", "play", "NAME"], ["conversations", "rename", "play", "NAME"]),
        *(["-D", "NAME", "--yes"], ["-Y", "NAME", "Be."], ["-M", "NAME", "offline:offline"]),
        *(["set", "-C", "NAME", "fuel", "3"], ["conversations", "expire", "NAME", "--at", "0"]),
    ],
    ids=" ".join,
)
def test_words_that_mean_a_conversation_are_no_names(used: Program, args: list[str], name: str) -> None:
    told = used(*(name if word == "NAME" else word for word in args))
    if name == "new" or args[-1] == "NAME":
        assert (told.code, told.out) == (2, b"")
        assert f"'{name}' cannot be the name of a conversation" in told.err
    else:
        assert told.code == 0  # the one before
    assert name not in names()


def test_an_archived_one_names_the_command_that_brings_it_back(used: Program) -> None:
    assert used("conversations", "archive").code == 0
    for args in (["hello"], ["-a"], ["-y", "Be."], ["say", "hello"]):
        told = used(*args)
        assert (told.code, told.out) == (3, b"")
        assert "`marid conversations restore work`" in told.err
    assert used("conversations", "restore").err == "marid: restored 'work'\n"
    assert used("hello").code == 0
    assert used("conversations", "destroy", "--yes").code == 0
    assert names() == ["default", "play"]


def test_that_a_call_was_begun_is_told_only_to_whoever_wants_all(used: Program) -> None:
    add_entries(
        open_request(), "work", [Entry(entry_type="tool_started", sender="work", to="run_shell", tool_call_id="9")]
    )
    assert "started" not in used("log").text + used("log", "--all").text + used("export").text
    assert "started" not in used("export", "--format", "html").text
    assert "[started: run_shell]\n" in used("log", "-v").text


def test_nothing_is_destroyed_without_a_terminal(used: Program) -> None:
    for args in (["-d"], ["-D", "play"], ["conversations", "destroy", "play"]):
        told = used.apart(*args, given=b"y\n")
        assert (told.code, told.out) == (3, b"")
        assert "did not delete" in told.err
    assert names() == ["default", "play", "work"]


def test_on_a_terminal_a_person_is_asked(used: Program) -> None:
    with TerminalSession("-d") as person:
        person.wait_for("Delete conversation 'work'")
        person.type("y\r")
        assert person.wait_exit() == 0
    assert names() == ["default", "play"]


def test_new_names_are_the_time_with_a_prefix(marid: Program) -> None:
    marid("-c", "new", "-x")
    assert re.fullmatch(r"\d{8}_\d{6}(_\d+)?", session()[0])
    marid("-c", "new:topic", "-x")
    assert re.fullmatch(r"topic_\d{8}_\d{6}(_\d+)?", session()[0])
    assert marid("-c", "new:").code == 2
    assert "offline" in marid("-C", "new:run", "hello").text
    assert [name for name in names() if name.startswith("run_")]


HOSTILE = ["../x", "a/b", "", "..", ".", "a b", "system", "SYSTEM", "ä", "x" * 101, "a\nb", "-D/../x"]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize(
    "before",
    [
        *(["-c"], ["-C"], ["-D"], ["-A"], ["-r"], ["-B"], ["--switch-context"], ["-x", "-c"], ["-R", "ok"]),
        *(["conversations", "switch"], ["conversations", "rename", "ok"], ["log"], ["clear"], ["export"]),
    ],
    ids=" ".join,
)
def test_a_wrong_name_is_refused_before_anything_is_made(marid: Program, before: list[str], name: str) -> None:
    if name == "" and before[0] in ("log", "clear", "export"):
        return  # nothing is the current one there
    told = marid(*before, name)
    assert (told.code, told.out) == (2, b"")
    assert not home().exists()


@pytest.mark.parametrize("before", [["-G", "0"], ["-N", "todos"], ["-M", "m"], ["-Y", "p"]], ids=" ".join)
def test_a_wrong_name_before_another_value_too(marid: Program, before: list[str]) -> None:
    flag, value = before
    assert marid(flag, "../x", value).code == 2
    assert marid("--home", str(home()), flag, "a/b", value).code == 2
    assert not home().exists()


def test_a_prompt_is_said_whatever_its_first_word_is(marid: Program) -> None:
    assert "offline" in marid("--", "log").text
    assert "offline" in marid("say", "log").text
    assert "offline" in marid("tell", "me").text
    assert [
        row["content"].split("] ")[1] for row in map(json.loads, marid("log", "--json").lines) if row["from"] == "user"
    ] == ["log", "log", "tell me"]


def test_several_words_are_joined_by_single_spaces(marid: Program) -> None:
    marid("what", "is  this", "-v", "here")
    spoken = [json.loads(line) for line in marid("-g0", "--json").lines]
    assert spoken[0]["content"].endswith("] what is  this here")


def test_piped_text_alone_is_a_prompt_also_in_another_conversation(marid: Program) -> None:
    assert marid.apart(given=b"hello\nthere").code == 0
    assert marid.apart("-C", "other", given=b"hello").code == 0
    assert names() == ["default", "other"]
    assert "hello\nthere" in json.loads(marid("log", "--json").lines[0])["content"]


@pytest.mark.parametrize(
    "flags", [["-a"], ["-r", "job"], ["-m", "offline:offline"], ["-y", "Be."], ["-u", "bob"]], ids=str
)
def test_what_is_piped_in_beside_a_change_is_said_after_it(used: Program, flags: list[str]) -> None:
    told = used.apart(*flags, given=b"a zebra\n")
    assert (told.code, "offline" in told.text) == (0, True)
    assert "a zebra" in used("-g", "0").text


@pytest.mark.parametrize("nothing", ["</dev/null", "<&-", "< <(printf ' \\n')", "< <(true)"])
def test_with_a_change_alone_nothing_is_said(used: Program, nothing: str) -> None:
    script = f'"{sys.executable}" -m marid -a {nothing}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=60, check=True)
    assert done.stdout == b""
    assert used("-g", "0").text == ""


def test_beside_a_flag_that_stands_alone_nothing_is_read(used: Program) -> None:
    told = used.apart("-a", "-L", given=b"this is no prompt")
    assert (told.code, told.text.count("messages")) == (0, 3)
    assert used("-g", "0").text == ""


def test_bare_in_a_pipe_it_helps_and_reads_nothing(marid: Program) -> None:
    told = marid()
    assert told.text == marid("--help").text
    assert not home().exists()


def test_what_was_said_is_found_again(used: Program) -> None:
    used("-A", "play")
    found = used("search", "--conversations", "said", "in", "PLAY")
    assert found.lines[0].startswith("play  20")
    assert found.lines[1] == "  said in play"


def test_conversations_whose_time_has_come_are_gone(used: Program) -> None:
    used("-C", "play", "--destroy-at", "1", "-x")
    assert names() == ["default", "play", "work"]
    assert "deleted expired conversations: play" in used("-v", "-L").err
    assert names() == ["default", "work"]


def test_a_session_that_cannot_be_read_is_told(used: Program) -> None:
    (home() / "session.json").write_text("{")
    told = used("-l")
    assert told.code == 6
    assert "session.json" in told.err


# Root may write everything, unless that right is taken from it.
BOUND = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search"]


def bound(*args: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """The program, to which a file that is read-only is just that."""
    before = [] if os.geteuid() else BOUND
    command = [*before, sys.executable, "-m", "marid", *args]
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root may write everything")
def test_a_home_that_cannot_be_written_can_be_read(used: Program) -> None:
    for place in (home(), *home().rglob("*")):
        place.chmod(0o555 if place.is_dir() else 0o444)
    for args in (["-L"], ["conversations"], ["log"], ["-n", "todos"], ["search", "--conversations", "said"]):
        done = bound(*args)
        assert (done.returncode, bool(done.stdout), done.stderr) == (0, True, "")
    for command in ('"list_contexts"', '"list_current_context"', '{"show_log": {"count": 0}}'):
        done = bound("json", given=f'{{"command": {command}, "context": "work"}}')
        assert (done.returncode, bool(done.stdout)) == (0, True)
        assert done.stderr.endswith('{"type":"done","ok":true}\n')
    for args in (["-c", "play", "-x"], ["-a"], ["-r", "x"], ["-D", "play", "--yes"], ["hello"], ["-u", "ann"]):
        done = bound(*args)
        assert (done.returncode, done.stdout) == (6, "")
        assert "Permission denied" in done.stderr
        assert f"marid keeps its files in '{home()}'; choose another folder with --home DIR" in done.stderr
    for place in (home(), *home().rglob("*")):
        place.chmod(0o755 if place.is_dir() else 0o644)


def test_a_home_that_is_a_file_is_told(marid: Program) -> None:
    home().write_text("")
    for args in (["hello"], ["-L"], ["-c", "x", "-x"], ["log"]):
        told = marid(*args)
        assert (told.code, told.out) == (6, b"")
        assert f"the home '{home()}' is not a folder\nmarid keeps its files in '{home()}'" in told.err
    told = marid.apart("json", given=b'{"command": "list_contexts", "context": "x"}')
    assert (told.code, told.out, f"the home '{home()}' is not a folder" in told.err) == (6, b"", True)


ON_A_SMALL_DISK = ["unshare", "--map-root-user", "--mount", "sh", "-c"]


def has_small_disks() -> bool:
    if not shutil.which("unshare"):
        return False
    return (
        subprocess.run([*ON_A_SMALL_DISK, "mount -t tmpfs none /mnt"], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.skipif(not has_small_disks(), reason="nobody may mount anything here")
def test_a_home_on_a_full_disk_can_be_read_and_says_what_is_wrong(marid: Program) -> None:
    home().mkdir()
    program = f"{sys.executable} -m marid"
    script = f"""
        mount -t tmpfs -o size=200k none {home()}
        {program} first >/dev/null || exit 9
        cat /dev/zero > {home()}/fill 2>/dev/null
        {program} second; echo "code $?"
        {program} log || exit 8
        rm {home()}/fill
        {program} third >/dev/null && {program} log
    """
    done = subprocess.run(
        [*ON_A_SMALL_DISK, script], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0
    assert "code 6\n[user]\n" in done.stdout
    assert "third" in done.stdout
    assert "No space left on device" in done.stderr
    assert f"marid keeps its files in '{home()}'; choose another folder with --home DIR" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_cannot_be_written_is_no_fault_of_the_home(used: Program) -> None:
    told = used("export", "-o", "/dev/null/x")
    assert (told.code, "'/dev/null' does not exist" in told.err, "keeps its files" in told.err) == (4, True, False)


def test_flags_before_a_command_reach_whoever_wants_them(used: Program) -> None:
    assert used("-C", "play", "config", "show").code == 0
    assert "'play' has no pending messages" in used("-C", "play", "inbox").err
    assert used("-C", "play", "resume").code == 0
    assert "offline" in used("-C", "play", "-U", "ann", "say", "hello").text
    assert session() == ("work", "default")


@pytest.mark.parametrize(
    "args", [["-c", "play"], ["-c", "-"], ["-c", "new:fresh"], ["-C", "play", "--destroy-at", "4000000000"]]
)
def test_a_flag_that_has_done_something_needs_no_prompt(used: Program, args: list[str]) -> None:
    done = used.apart(*args)
    assert (done.code, done.out) == (0, b"")
    assert "prompt is empty" not in done.err
    assert used.apart("-C", "play").code == 2
    assert used.apart("-c", "play", "").code == 2


def test_a_switch_without_words_tells_which_one_is_current(used: Program) -> None:
    assert used.apart("-c", "play").err == "marid: 'play' is the current conversation\n"
    assert session() == ("play", "work")


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("contxt", "context"),
        ("conversation", "conversations"),
        ("logs", "log"),
        ("help", "--help"),
        ("version", "--version"),
    ],
)
def test_a_word_that_may_be_a_command_is_refused_where_nobody_can_be_asked(
    marid: Program, word: str, meant: str
) -> None:
    told = marid(word)
    assert (told.code, told.text) == (2, "")
    problem = f"unknown command '{word}'; did you mean 'marid {meant}'?"
    assert told.err == f"marid: {problem} `marid say {word}` sends it to the model\n"
    assert not (home() / "contexts").exists()


@pytest.mark.parametrize(("answer", "code", "shown"), [("\n", 2, "nothing was sent"), ("y\n", 0, "offline")])
def test_a_word_that_may_be_a_command_is_asked_about_on_a_terminal(
    marid: Program, answer: str, code: int, shown: str
) -> None:
    with TerminalSession("contex") as session:
        assert "unknown command 'contex'; did you mean 'marid context'?" in session.wait_for("model? [y/N] ")
        session.type(answer)
        assert session.wait_exit() == code
        assert shown in session.shown


@pytest.mark.parametrize("args", [["hello"], ["go"], ["--", "contxt"], ["contxt", "this"], ["say", "contxt"]])
def test_other_words_are_said_without_a_word_about_it(marid: Program, args: list[str]) -> None:
    told = marid(*args)
    assert (told.code, told.err) == (0, "")


def test_one_that_is_not_there_is_not_shown(used: Program) -> None:
    told = used("conversations", "show", "nope")
    assert (told.code, told.out) == (4, b"")
    assert used("-C", "fresh", "-l").text == "fresh\n  messages   0\n"


def test_where_everything_is_may_be_said_anywhere(used: Program) -> None:
    elsewhere = str(home().parent / "elsewhere")
    for args in (["conversations", "--home", elsewhere], ["--home", elsewhere, "-L"], ["log", f"--home={elsewhere}"]):
        told = used(*args)
        assert (told.code, "work" in told.text) == (0, False)


def test_an_empty_window_is_told(used: Program) -> None:
    used("-a")
    told = used("log")
    assert (told.code, told.out) == (0, b"")
    assert "the window of 'work' is empty" in told.err
    assert "said in work" in used("log", "--all").text


def test_what_a_model_says_by_a_call_is_in_the_log(used: Program) -> None:
    call = Entry(entry_type="flow_control_call", content='{"message": "Which one?"}', sender="work", to="call_user")
    result = Entry(entry_type="flow_control_result", content="The round ends.", sender="call_user", to="work")
    add_entries(open_request(), "work", [call, result])
    assert used("log").text.endswith("[work]\nWhich one?\n\n")


def test_a_second_one_is_told_who_holds_the_conversation_and_how_to_wait(used: Program) -> None:
    scope = open_request()
    with scope.stores.conversations.open("work"):
        refused = used.apart("hello")
        assert (refused.code, refused.out) == (6, b"")
        assert f"process {os.getpid()} on {os.uname().nodename}" in refused.err
        assert "--wait-lock SECONDS waits for it" in refused.err
        assert "* work [active]" in used("-L").text
        for args in (["--wait-lock", "0.3", "hello"], ["say", "--wait-lock", "0.3", "hello"]):
            late = used.apart(*args)
            assert (late.code, late.out) == (6, b"")
            assert f"waiting for process {os.getpid()}" in late.err


def test_who_waits_goes_on_as_soon_as_it_can(used: Program) -> None:
    scope = open_request()
    held = scope.stores.conversations.open("work")
    command = [sys.executable, "-m", "marid", "--wait-lock", "30", "hello"]
    pipe = subprocess.PIPE
    with held, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True) as waiting:
        assert waiting.stderr is not None
        assert "waiting for process" in waiting.stderr.readline()
        held.close()
        out, _ = waiting.communicate(timeout=30)
    assert (waiting.returncode, "offline" in out.lower()) == (0, True)


def test_waiting_for_a_conversation_that_is_not_there_yet_makes_it(used: Program) -> None:
    made = used("-C", "fresh", "--wait-lock", "5", "hello")
    assert (made.code, "offline" in made.text.lower(), made.err) == (0, True, "")


def fixture_line(at: int, sender: str, to: str, content: str, kind: str = "message", **more: object) -> str:
    fields = {"id": f"e{at}", "timestamp": at, "from": sender, "to": to, "content": content, "entry_type": kind}
    return json.dumps({**fields, **more}, separators=(",", ":")) + "\n"


def newer_home() -> None:
    """As the third document has it: partitions, a manifest, a session of its own."""
    place = home() / "contexts" / "zoo"
    (place / "transcript" / "partitions").mkdir(parents=True)
    old = fixture_line(1, "system", "zoo", "Context created", "context_created")
    old += fixture_line(2, "fey", "zoo", "what is a platypus?") + fixture_line(3, "zoo", "user", "It swims.")
    new = fixture_line(4, "fey", "zoo", "read it")
    new += fixture_line(5, "zoo", "file_head", "{}", "tool_call", tool_call_id="c1")
    new += fixture_line(6, "file_head", "zoo", "a line", "tool_result", tool_call_id="c1")
    (place / "transcript" / "partitions" / "1-3.jsonl").write_text(old)
    (place / "transcript" / "active.jsonl").write_text(new)
    listed = {"file": "partitions/1-3.jsonl", "start_ts": 1, "end_ts": 3, "entry_count": 3}
    policy = {"max_entries": 3, "max_age_seconds": 2592000}
    manifest = {"version": 1, "active_partition": "active.jsonl", "partitions": [listed], "rotation_policy": policy}
    (place / "transcript" / "manifest.json").write_text(json.dumps(manifest))
    (place / "context.jsonl").write_text(old + new)
    (place / "context_meta.json").write_text('{"system_prompt_md_mtime": null, "last_combined_prompt": null}')
    (place / "todos.md").write_text("- feed it\n")
    (place / ".lock").write_text("1769000000")
    (home() / "session.json").write_text('{"implied_context": "zoo", "previous_context": null}')


def older_home() -> None:
    """As the first document has it: one transcript, the system prompt in the window, the current one in state.json."""
    place = home() / "contexts" / "zoo"
    place.mkdir(parents=True)
    first = fixture_line(1, "system", "zoo", "Context created", "context_created")
    messages = fixture_line(2, "fey", "zoo", "what is a platypus?") + fixture_line(3, "zoo", "user", "It swims.")
    meta = {"hash": "ab", "transcript_anchor_id": "e1"}
    prompt = fixture_line(1, "system", "zoo", "You are chibi", "system_prompt", metadata=meta)
    (place / "transcript.jsonl").write_text(first + messages)
    (place / "context.jsonl").write_text(first + prompt + messages)
    (place / "context_meta.json").write_text('{"created_at": 1}')
    (place / "todos.md").write_text("- feed it\n")
    (home() / "state.json").write_text('{"contexts": ["zoo"], "current_context": "zoo", "previous_context": null}')


@pytest.mark.parametrize("make", [older_home, newer_home])
def test_a_home_of_chibi_is_listed_read_searched_and_continued(marid: Program, make: Callable[[], None]) -> None:
    make()
    (home() / "config.toml").write_text('username = "fey"\nauto_compact = true\n')
    assert re.search("zoo +[23] messages", marid("-L").text)
    log = marid("-G", "zoo", "0").text
    assert log.startswith("[fey]\nwhat is a platypus?\n\n[zoo]\nIt swims.\n")
    assert marid("-N", "zoo", "todos").text == "- feed it\n"
    assert marid("search", "--conversations", "platypus").text.startswith("zoo  1970-01-01")
    told = marid("-C", "zoo", "and", "then?")
    assert (told.code, "offline" in told.text.lower()) == (0, True)
    after = marid("-G", "zoo", "0").text
    assert after.startswith(log)
    assert "and then?" in after
