import json
import os
import subprocess
import sys
import time

import pytest

from fakes.program import Program


def waiting(marid: Program) -> list[dict[str, str]]:
    """What waits, once something does."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        found = json.loads(marid("approvals", "--json").text)
        if found:
            return found
    pytest.fail("nothing asks")


@pytest.mark.parametrize(("answer", "code", "text"), [("yes", 0, "new"), ("no", 3, "old")])
def test_a_question_of_one_process_is_answered_by_another(marid: Program, answer: str, code: int, text: str) -> None:
    marid.write({"a.txt": "old"})
    call = ["tool", "edit_file", "--path", "a.txt", "--old_string", "old", "--new_string", "new", "--wait"]
    argv = [sys.executable, "-m", "marid", *call]
    with subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as asking:
        (found,) = waiting(marid)
        assert found["tool"] == "edit_file"
        shown = marid("approvals").text
        assert "-old" in shown
        assert "+new" in shown
        assert marid("approvals", answer, found["id"][:8]).code == 0
        asking.communicate(timeout=60)
        assert asking.returncode == code
    assert (marid.folder / "a.txt").read_text() == text
    assert marid("approvals", "--json").text == "[]\n"
    assert os.stat(marid.folder.parent / "home" / "approvals.db").st_mode & 0o777 == 0o600


def start_asking(*flags: str) -> "subprocess.Popen[bytes]":
    """An edit that waits for an answer from elsewhere."""
    call = ["tool", "write_file", "--path", "a.txt", "--content", "new", "--wait", *flags]
    argv = [sys.executable, "-m", "marid", *call]
    return subprocess.Popen(
        argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )


def test_a_no_tells_its_reason(marid: Program) -> None:
    with start_asking() as asking:
        (found,) = waiting(marid)
        assert found["expires"] is None
        assert marid("approvals", "no", found["id"], "--reason", "use b.txt").code == 0
        assert b"'write_file' was declined: use b.txt; --allow write grants it" in asking.communicate(timeout=60)[1]
    assert marid("approvals", "yes", found["id"], "--reason", "x").code == 2


def test_a_question_whose_process_was_killed_says_so(marid: Program) -> None:
    with start_asking() as asking:
        (found,) = waiting(marid)
        asking.kill()
    assert "the process that asked has ended" in marid("approvals").text
    done = marid("approvals", "yes", found["id"])
    assert (done.code, done.err.startswith("marid: write_file: yes (the process that asked has ended")) == (0, True)


def test_what_always_allowed_is_listed_and_revoked(marid: Program) -> None:
    assert marid("approvals", "grants").err == "marid: no grants\n"
    with start_asking() as asking:
        (found,) = waiting(marid)
        assert found["always"].startswith("every edit by write_file, ")
        assert marid("approvals", "always", found["id"]).code == 0
        asking.communicate(timeout=60)
    listed = marid("approvals", "grants").text
    assert "every edit by write_file" in listed
    assert "in this run (run " in listed
    assert marid("approvals", "grants", "revoke").code == 2
    assert marid("approvals", "grants", "revoke", "zzz").code == 4
    assert marid("approvals", "grants", "revoke", listed.split()[0]).code == 0
    assert json.loads(marid("approvals", "grants", "--json").text) == []


def test_nothing_waits(marid: Program) -> None:
    done = marid("approvals")
    assert (done.text, done.err) == ("", "marid: no pending approvals\n")


def test_an_id_is_needed_and_must_be_one_that_waits(marid: Program) -> None:
    assert marid("approvals", "yes").code == 2
    assert marid("approvals", "yes", "zzz").code == 4
    assert marid("approvals", "perhaps", "zzz").code == 2


def test_an_allowed_file_grants_itself_and_not_its_folder(marid: Program) -> None:
    outside = marid.folder.parent / "elsewhere"
    outside.mkdir()
    (outside / "a.txt").write_text("alpha\n")
    (outside / "b.txt").write_text("beta\n")
    assert marid("tool", "read_file", "--path", str(outside / "a.txt")).code == 3
    assert marid("allow", str(outside / "a.txt")).err == f"marid: allowed: {outside}/a.txt\n"
    assert marid("tool", "read_file", "--path", str(outside / "a.txt")).text == "alpha\n"
    assert marid("tool", "read_file", "--path", str(outside / "b.txt")).code == 3


def test_an_allowed_folder_is_one_more_root_and_the_project_stays_the_first(marid: Program) -> None:
    outside = marid.folder.parent / "elsewhere"
    outside.mkdir()
    (outside / "a.txt").write_text("alpha\n")
    marid.write({"mine.txt": "mine\n"})
    assert marid("allow", "../elsewhere").code == 0
    assert marid("tool", "read_file", "--path", str(outside / "a.txt")).text == "alpha\n"
    assert marid("tool", "read_file", "--path", "mine.txt").text == "mine\n"


def test_the_list_is_shown_and_can_be_shortened(marid: Program) -> None:
    outside = marid.folder.parent / "elsewhere"
    outside.mkdir()
    marid("allow", str(outside))
    assert marid("allow").text == f"{outside}\n"
    assert marid("allow", "--remove", "../elsewhere").code == 0
    nothing = marid("allow")
    assert (nothing.text, nothing.code) == ("", 0)
    assert "nothing outside of the project is allowed" in nothing.err
    done = marid("allow", "--remove", str(outside))
    assert done.code == 4
    assert "not among the allowed" in done.err


def test_what_is_not_there_the_whole_disk_and_our_home_are_refused(marid: Program) -> None:
    (marid.folder.parent / "home").mkdir()
    assert marid("allow", "nowhere").code == 4
    assert marid("allow", "/").code == 2
    assert marid("allow", "../home").code == 3
