"""`marid tools`: the inventory for a person and for a program."""

import json

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
