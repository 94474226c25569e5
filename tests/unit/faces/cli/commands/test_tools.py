"""`marid tools`: the inventory for a person and for a program."""

import json

from fakes.program import Program


def test_the_tools_are_listed_by_family_with_effect_and_one_line_each(marid: Program) -> None:
    lines = marid("tools").lines
    assert lines[0] == "files"
    assert any(line.split()[:2] == ["read_file", "read"] for line in lines)
    assert any(line.split()[:2] == ["run_shell", "exec"] for line in lines)
    assert any("the same as run_shell" in line for line in lines)


def test_json_has_name_description_family_effect_and_schema(marid: Program) -> None:
    found = {one["name"]: one for one in json.loads(marid("tools", "--json").text)}
    one = found["get_file_slice"]
    assert (one["family"], one["effect"]) == ("files", "read")
    assert one["schema"]["required"] == ["path", "start_line", "end_line"]
    assert one["description"].startswith("Read some lines")
    assert found["file_lines"]["alias_of"] == "get_file_slice"
    assert found["file_lines"]["schema"]["required"] == ["path", "start", "end"]


def test_a_family_may_be_chosen(marid: Program) -> None:
    assert {one["family"] for one in json.loads(marid("tools", "--json", "--family", "beads").text)} == {"beads"}
    done = marid("tools", "--family", "bead")
    assert done.code == 2
    assert "beads" in done.err


def test_read_only_leaves_what_changes_nothing(marid: Program) -> None:
    effects = {one["effect"] for one in json.loads(marid("tools", "--json", "--read-only").text)}
    assert effects == {"read"}


def test_what_policy_denies_is_not_listed(marid: Program) -> None:
    marid.set(MARID_POLICY="run_shell=deny")
    assert "run_shell" not in marid("tools").text
