import json
import os

import pytest

from fakes.program import Program


def test_the_tools_are_listed_by_family_with_effect_and_one_line_each(marid: Program) -> None:
    lines = marid("tools").lines
    assert lines[0] == "context"
    assert any(line.split()[:2] == ["read_file", "read"] for line in lines)
    assert any(line.split()[:2] == ["run_shell", "exec"] for line in lines)
    names = {line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "}
    assert names.isdisjoint({"shell_exec", "bd_list", "get_ui_performance", "update_todos"})


def test_other_names_and_tools_that_do_not_work_here_are_listed_with_all(marid: Program) -> None:
    lines = marid("tools", "--all").lines
    assert any(line.split() == ["shell_exec", "exec", "see", "run_shell"] for line in lines)
    names = {line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "}
    assert {"bd_list", "get_ui_performance", "update_todos"} <= names


def test_the_list_follows_the_width_of_the_terminal_and_breaks_between_words(marid: Program) -> None:
    marid.set(COLUMNS="60")
    lines = marid("tools", "--family", "files").lines
    assert max(map(len, lines)) <= 60
    assert "  write_file      write  Write a whole text file, new or in" in lines


def test_json_has_name_description_family_effect_and_schema(marid: Program) -> None:
    found = {one["name"]: one for one in json.loads(marid("tools", "--all", "--json").text)}
    one = found["get_file_slice"]
    assert (one["family"], one["effect"]) == ("files", "read")
    assert one["schema"]["required"] == ["path", "start_line", "end_line"]
    assert one["description"].startswith("Read some lines")
    assert found["file_lines"]["alias_of"] == "get_file_slice"
    assert found["file_lines"]["schema"]["required"] == ["path", "start", "end"]


def test_a_family_may_be_chosen(marid: Program) -> None:
    assert {one["family"] for one in json.loads(marid("tools", "--all", "--json", "--family", "beads").text)} == {
        "beads"
    }
    done = marid("tools", "--family", "bead")
    assert done.code == 2
    assert "beads" in done.err


def test_read_only_leaves_what_changes_nothing(marid: Program) -> None:
    effects = {one["effect"] for one in json.loads(marid("tools", "--json", "--read-only").text)}
    assert effects == {"read"}


def test_what_policy_denies_is_not_listed(marid: Program) -> None:
    marid.set(MARID_POLICY="run_shell=deny")
    assert "run_shell" not in marid("tools").text


APP = "class A:\n    def run(self, x: int) -> int:\n        return x\n"


@pytest.fixture
def project(marid: Program) -> Program:
    marid.write({"src/app.py": APP, "notes.txt": "one\ntwo\nthree\n"})
    return marid


def test_the_text_of_the_result_is_stdout(project: Program) -> None:
    done = project("tool", "get_file_slice", "--path", "notes.txt", "--start_line", "2", "--end-line", "2")
    assert (done.code, done.text, done.err) == (0, "two\n", "")


def test_arguments_may_come_all_at_once(project: Program) -> None:
    packed = json.dumps({"path": "notes.txt", "start_line": 1, "end_line": 1})
    assert project("tool", "get_file_slice", "--args", packed).text == "one\n"
    assert project.apart("tool", "get_file_slice", "--args", "-", given=packed.encode()).text == "one\n"
    assert project("tool", "get_file_slice", "--args", packed, "--end_line", "2").text == "one\ntwo\n"


def test_a_tool_may_have_a_parameter_that_is_called_name(project: Program) -> None:
    packed = json.dumps({"path": "src/app.py", "name": "A.run"})
    assert "return x" in project("tool", "get_definition", "--args", packed).text
    removed = project("tool", "py_remove_def", "--path", "src/app.py", "--name", "A.run", "--allow", "write")
    assert (removed.code, removed.err) == (0, "")


@pytest.mark.parametrize(
    ("packed", "words"),
    [("[1]", "takes a JSON object, not list"), ("{", "takes a JSON object"), ("[" * 100_000, "takes a JSON object")],
)
def test_what_is_no_object_is_refused(project: Program, packed: str, words: str) -> None:
    done = project("tool", "read_file", "--args", packed)
    assert done.code == 2
    assert words in done.err


def test_json_gives_the_outcome(project: Program) -> None:
    good = project("tool", "file_head", "--path", "notes.txt", "--lines", "1", "--json")
    assert json.loads(good.text)["ok"] is True
    assert json.loads(good.text)["result"] == "one\n"
    bad = project("tool", "read_file", "--path", "gone.txt", "--json")
    found = json.loads(bad.text)
    assert (bad.code, found["ok"], found["code"], bad.err) == (4, False, "not_found", "")
    assert "gone.txt" in found["message"]


def test_a_failure_goes_to_stderr_with_the_exit_code_of_its_family(project: Program) -> None:
    for args, code in (
        (("read_file", "--path", "gone.txt"), 4),
        (("read_file", "--path", "src"), 2),
        (("read_file", "--path", "/etc/passwd"), 3),
        (("get_file_slice", "--path", "notes.txt", "--start_line", "x", "--end_line", "1"), 2),
    ):
        done = project("tool", *args)
        assert (done.code, done.out) == (code, b"")
        assert done.err.startswith("marid: ")
        assert "Traceback" not in done.err


def test_an_argument_that_the_tool_does_not_take_is_refused(project: Program) -> None:
    done = project("tool", "read_file", "--args", '{"path": "notes.txt", "pat": 1}')
    assert done.code == 2
    assert "pat" in done.err


def test_without_a_terminal_a_question_is_a_refusal_that_names_the_flag(project: Program) -> None:
    done = project.apart("tool", "write_file", "--path", "new.txt", "--content", "x", given=b"y\ny\n")
    assert done.code == 3
    assert "--allow write" in done.err
    assert not (project.folder / "new.txt").exists()


@pytest.mark.parametrize("where", ["before", "after"])
def test_allow_grants_for_one_run_wherever_it_stands(project: Program, where: str) -> None:
    grant = ("--allow", "write")
    call = ("write_file", "--path", "new.txt", "--content", "x")
    done = project("tool", *(grant if where == "before" else ()), *call, *(grant if where == "after" else ()))
    assert done.code == 0, done.err
    assert (project.folder / "new.txt").read_text() == "x"


def test_read_only_beats_allow(project: Program) -> None:
    done = project("tool", "write_file", "--path", "new.txt", "--content", "x", "--allow", "write", "--read-only")
    assert done.code == 3
    assert not (project.folder / "new.txt").exists()


def test_an_effect_that_is_none_is_told(project: Program) -> None:
    done = project("tool", "read_file", "--path", "notes.txt", "--allow", "writ")
    assert done.code == 2
    assert "did you mean 'write'" in done.err


def test_another_root_may_be_named(project: Program) -> None:
    done = project("tool", "read_file", "--path", "app.py", "--root", "src")
    assert done.text == APP


def test_the_policy_of_the_user_counts(project: Program) -> None:
    home = project.folder.parent / "home"
    home.mkdir()
    (home / "config.toml").write_text('[policy]\nwrite = "allow"\nread_file = "deny"\n')
    assert project("tool", "write_file", "--path", "new.txt", "--content", "x").code == 0
    assert project("tool", "read_file", "--path", "notes.txt").code == 3
    (home / "config.toml").write_text('[policy]\nrun_shel = "deny"\n')
    done = project("tool", "read_file", "--path", "notes.txt")
    assert (done.code, "did you mean 'run_shell'" in done.err) == (2, True)


def test_help_comes_from_the_definition(project: Program) -> None:
    every = project("tool", "--help").text
    assert "py_get_skeleton" in every
    assert "run_shell" in every
    one = project("tool", "get_file_slice", "--help").text
    assert "--start_line, --start-line" in one
    assert "Effect: read." in one


def test_a_switch_may_be_given_bare_or_with_a_word(project: Program) -> None:
    for given in (("--replace_all",), ("--replace-all", "true"), ("--replace_all=true",)):
        project.write({"many.txt": "a a a"})
        args = ("--path", "many.txt", "--old_string", "a", "--new_string", "b", "--allow", "write")
        done = project("tool", "edit_file", *args, *given)
        assert done.code == 0, done.err
        assert (project.folder / "many.txt").read_text() == "b b b"


def test_an_object_is_given_as_json(project: Program) -> None:
    made = project("tool", "create_anchor", "--path", "notes.txt", "--start_line", "2", "--end_line", "2").text
    project.write({"notes.txt": "zero\none\ntwo\nthree\n"})
    found = project("tool", "resolve_anchor", "--path", "notes.txt", "--anchor", made.strip())
    assert found.code == 0, found.err
    assert "two" in found.text


def test_a_command_runs_and_its_exit_code_is_a_value(project: Program) -> None:
    done = project("tool", "run_shell", "--command", "echo hello; exit 3", "--allow", "exec", "--json")
    found = json.loads(done.text)
    assert found["ok"] is True
    assert "STDOUT:\nhello" in found["result"]
    assert "EXIT CODE: 3" in found["result"]
    assert found["values"]["exit_code"] == 3


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["nonsense"], "not_found", "`marid tools --all` lists them"),
        (["read_fil"], "not_found", "did you mean 'read_file'"),
        (["read_file", "--pth", "x"], "bad_input", "--pth"),
        (["read_file", "extra"], "bad_input", "extra"),
    ],
)
def test_a_program_gets_json_also_for_a_wrong_command_line(
    project: Program, args: list[str], code: str, words: str
) -> None:
    plain = project("tool", *args)
    assert (plain.out, words in plain.err) == (b"", True)
    done = project("tool", *args, "--json")
    told = json.loads(done.text)
    assert (done.code, done.err) == (plain.code, "")
    assert (told["ok"], told["code"]) == (False, code)
    assert words in told["message"]


def test_a_program_gets_json_also_for_wrong_settings(project: Program) -> None:
    project.write({".marid.toml": "nonsense = 1\n"})
    done = project("tool", "read_file", "--path", "notes.txt", "--json")
    assert (done.code, json.loads(done.text)["code"], done.err) == (2, "bad_input", "")


def test_nobody_who_runs_the_tests_is_asked() -> None:
    with pytest.raises(OSError, match="No such device"):
        os.open("/dev/tty", os.O_RDWR)


def test_the_name_of_no_tool_is_asked_for(project: Program) -> None:
    assert "Usage: marid tool" in project("tool").text + project("tool").err


def test_json_may_stand_before_the_name(project: Program) -> None:
    assert json.loads(project("tool", "--json", "file_head", "--path", "notes.txt").text)["ok"] is True
    assert json.loads(project("tool", "--json", "no_such_tool").text)["code"] == "not_found"


def test_what_is_wrong_with_the_environment_of_commands_is_told(project: Program) -> None:
    home = project.folder.parent / "home"
    home.mkdir()
    (home / "mcp_env.toml").write_text('[env]\nLD_PRELOAD = "/x.so"\nGREETING = "hello ${NOBODY_SET_THIS}"\n')
    done = project("tool", "run_shell", "--command", "echo $GREETING", "--allow", "exec")
    assert done.code == 0
    assert "LD_PRELOAD is ignored" in done.err
    assert "NOBODY_SET_THIS" in done.err
    assert "STDOUT:\nhello" in done.text
