import json
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.program import Outcome, Program


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


class Installed:
    """The program in a folder of its own, called by its path."""

    def __init__(self, place: Path) -> None:
        self.script = place / "marid"
        self.script.write_text(f"#!{sys.executable}\nfrom marid.__main__ import main\nmain()\n")
        self.script.chmod(0o755)

    def __call__(self, *args: str, program: Path | None = None) -> Outcome:
        done = subprocess.run([program or self.script, *args], capture_output=True, timeout=60, check=False)
        return Outcome(code=done.returncode, out=done.stdout, err=done.stderr.decode())


@pytest.fixture
def installed(marid: Program, tmp_path: Path) -> Installed:
    marid.write({"a.py": "x"})
    return Installed(tmp_path)


def test_a_link_is_the_program_by_another_name(installed: Installed, tmp_path: Path) -> None:
    links = tmp_path / "links"
    links.mkdir()
    made = installed("links", str(links)).lines
    assert made == [f"{links}/{name} -> {installed.script}" for name in ("jinni", "chibi", "chibi-json")]
    assert installed("--list-only", ".", program=links / "jinni").text == "a.py\n"
    assert "Usage: jinni " in installed(program=links / "jinni").err


def test_a_link_for_each_program_that_is_replaced_is_that_program(installed: Installed, tmp_path: Path) -> None:
    installed("links", str(tmp_path))
    assert installed("--version", program=tmp_path / "chibi").text.startswith("marid ")
    asked = installed("--version", program=tmp_path / "chibi-json")
    assert (asked.code, asked.err) == (0, '{"type":"done","ok":true}\n')


def test_a_link_that_is_there_is_left_alone(installed: Installed, tmp_path: Path) -> None:
    links = tmp_path / "links"
    links.mkdir()
    installed("links", str(links))
    again = installed("links", str(links)).lines
    assert again == [f"{links}/{name} already exists" for name in ("jinni", "chibi", "chibi-json")]


def test_what_is_not_ours_is_never_overwritten(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "jinni").write_text("mine")
    told = installed("links", str(tmp_path))
    assert (told.code, told.err) == (2, f"marid: {tmp_path}/jinni exists and is not a link to marid; remove it first\n")
    assert (tmp_path / "jinni").read_text() == "mine"


def test_a_folder_that_is_not_there_is_told(installed: Installed) -> None:
    assert installed("links", "gone").code == 4


def test_a_folder_in_which_nobody_may_write_is_refused(installed: Installed) -> None:
    told = installed("links", "/proc")
    assert told.code == 3
    assert "/proc/jinni: " in told.err


def test_only_the_installed_program_makes_links(marid: Program) -> None:
    told = marid("links", ".")
    assert (told.code, told.err) == (2, "marid: run the installed program `marid` to link to it\n")
