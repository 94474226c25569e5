"""`marid config`: what is in force, and why."""

import json
from pathlib import Path

import pytest

from fakes.program import Program


@pytest.fixture
def home(marid: Program) -> Path:
    home = marid.folder.parent / "home"
    (home / "contexts" / "talk").mkdir(parents=True)
    return home


def test_every_setting_is_shown_and_no_key(marid: Program, home: Path) -> None:
    (home / "config.toml").write_text('api_key = "sk-canary"\nfuel = 4\n[providers.a]\napi_key = "sk-canary"\n')
    for args in ((), ("show",), ("show", "--origin"), ("show", "--json")):
        done = marid("config", *args)
        assert (done.code, "sk-canary" in done.text + done.err) == (0, False)
    lines = marid("config").lines
    assert {"fuel = 4", "api_key = (set)", "base_url = (unset)", 'username = "user"', "verbose = false"} <= {*lines}
    assert "providers.a.api_key = (set)" in lines


def test_where_each_came_from_is_told(marid: Program, home: Path) -> None:
    (home / "config.toml").write_text("fuel = 4\n")
    (home / "contexts" / "talk" / "local.toml").write_text('username = "ada"\n')
    marid.write({".marid.toml": "no_tool_calls = true\n"})
    marid.set(MARID_API_SEED="3")
    lines = marid("config", "show", "--origin", "-C", "talk").lines
    assert {
        f"fuel = 4  # {home / 'config.toml'}",
        f'username = "ada"  # {home / "contexts" / "talk" / "local.toml"}',
        f"no_tool_calls = true  # {marid.folder / '.marid.toml'}",
        "api.seed = 3  # MARID_API_SEED",
        "mask = true  # default",
    } <= {*lines}


def test_programs_may_read_it_as_json(marid: Program, home: Path) -> None:
    (home / "config.toml").write_text('fuel = 4\napi_key = "k"\n[api]\nstop = ["a"]\n')
    table = json.loads(marid("config", "show", "--json").out)
    assert table["fuel"] == {"value": 4, "origin": str(home / "config.toml")}
    assert (table["api.stop"]["value"], table["model"]["value"], table["api_key"]["value"]) == (["a"], None, "(set)")


def test_the_files_that_are_looked_at_are_listed(marid: Program, home: Path) -> None:
    (home / "config.toml").write_text("")
    own = home / "contexts" / "talk"
    assert marid("config", "path", "-C", "talk").lines == [
        f"{home}/config.toml",
        f"{home}/models.toml  (missing)",
        f"{marid.folder}/.marid.toml  (missing)",
        f"{own}/local.toml  (missing)",
        f"{home}/cli.toml  (missing)",
        f"{own}/cli.toml  (missing)",
    ]
    assert len(marid("config", "path").lines) == 4


def test_notes_are_told_beside_the_result(marid: Program, home: Path) -> None:
    (home / "config.toml").write_text("auto_compact = true\n")
    done = marid("config")
    assert "'auto_compact' is not supported yet" in done.err
    assert "auto_compact" not in done.text


def test_problems_are_told_with_file_and_line(marid: Program, home: Path) -> None:
    (home / "config.toml").write_text('\nfuel = "x"\nmodle = "y"\n')
    done = marid("config")
    assert (done.code, done.text) == (2, "")
    assert f"{home / 'config.toml'}:2: 'fuel' must be a whole number" in done.err
    assert f"{home / 'config.toml'}:3: unknown key 'modle'; did you mean 'model'?" in done.err


def test_a_name_that_is_none_is_refused(marid: Program) -> None:
    for what in ("show", "path"):
        assert marid("config", what, "-C", "../x").code == 2


def test_a_conversation_may_be_named_by_its_id(marid: Program, home: Path) -> None:
    marid("-C", "other", "set", "fuel", "7")
    (row,) = [row for row in json.loads(marid("conversations", "--json").text) if row["name"] == "other"]
    shown = marid("config", "show", "-C", row["id"])
    assert "fuel = 7" in shown.lines
    assert str(home / "contexts" / "other" / "local.toml") in marid("config", "path", "-C", row["id"]).text


def test_a_conversation_may_be_named_to_the_command_itself(marid: Program) -> None:
    marid("-c", "talk", "-u", "ann", "-x")
    for args in (["config", "-C", "talk"], ["-C", "talk", "config"], ["config", "show", "-C", "talk"]):
        assert 'username = "ann"' in marid(*args).lines, args
    marid("-c", "default", "-x")
    assert 'username = "ann"' not in marid("config").lines
    assert marid("config", "-C", "talk", "show").code == 2
