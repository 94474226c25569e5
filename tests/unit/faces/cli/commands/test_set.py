import os
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.program import Program


def local(name: str) -> str:
    return Path(os.environ["MARID_HOME"], "contexts", name, "local.toml").read_text()


def test_what_holds_in_a_conversation_is_set(marid: Program) -> None:
    assert marid("set", "username", "ann", "lee").code == 0
    assert 'username = "ann lee"' in local("default")
    assert marid("set", "-C", "work", "fuel", "9").code == 4
    assert marid("-C", "work", "set", "fuel", "9").code == 0
    assert marid("set", "-C", "work", "fuel", "9").code == 0
    assert marid("-C", "work", "inspect", "fuel").text == "9\n"
    assert marid("set", "model", "offline:offline").code == 0
    assert 'model = "offline:offline"' in local("default")
    assert marid("set", "api.temperature", "0.5").code == 0
    assert marid("set", "fuel=7").code == 0
    assert marid("inspect", "fuel").text == "7\n"


def test_a_system_prompt_is_a_text_or_a_file(marid: Program) -> None:
    marid("set", "system-prompt", "Be brief.")
    assert marid("-n", "system_prompt").text == "Be brief.\n"
    marid.write({"p.md": "Be long."})
    marid("set", "system_prompt", "p.md")
    assert marid("-n", "system_prompt").text == "Be long.\n"
    assert marid("set", "--unset", "system-prompt").code == 0
    assert "Be long" not in marid("-n", "system_prompt").text


def test_a_system_prompt_that_is_piped_in_is_not_said_as_well(marid: Program) -> None:
    marid.write({"p.md": "Be of a file."})
    told = marid.apart("-y", "/dev/stdin", "hello", given=b"Be piped in.")
    assert (told.code, marid("-n", "system_prompt").text) == (0, "Be piped in.\n")
    assert "has its own system prompt" in told.err
    script = f'"{sys.executable}" -m marid -y /dev/stdin hello < p.md'
    assert subprocess.run(["sh", "-c", script], capture_output=True, timeout=60, check=False).returncode == 0
    assert marid("-n", "system_prompt").text == "Be of a file.\n"
    assert "Be " not in marid("log").text
    assert marid.apart("-y", "/dev/stdin", given=b"Be alone.").code == 0
    assert marid("-n", "system_prompt").text == "Be alone.\n"
    marid.write({"empty": ""})
    assert "has the usual system prompt" in marid("-y", "empty", "-x").err


def test_a_key_is_taken_out_again(marid: Program) -> None:
    marid("set", "fuel", "9")
    assert "the usual one" in marid("set", "--unset", "fuel").err
    assert marid("-n", "fuel").text == "30\n"
    assert marid("set", "--unset", "username").code == 0


def test_a_provider_that_came_with_a_model_goes_with_it(marid: Program) -> None:
    marid("set", "model", "offline:offline")
    assert marid("inspect", "provider").text == "offline\n"
    assert "model is the usual one" in marid("set", "--unset", "model").err
    assert local("default") == ""
    assert marid("inspect", "provider").text == "(not set)\n"


@pytest.mark.parametrize(
    "args", [["fuel"], ["--unset", "fuel", "3"], ["fule", "3"], ["fuel", "much"], ["-C", "../x", "fuel", "3"], []]
)
def test_what_is_wrong_is_told(marid: Program, args: list[str]) -> None:
    assert marid("set", *args).code == 2
    assert not os.path.exists(os.environ["MARID_HOME"])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("providers", '{"local":{"api_key":"hush-hush"}}'),
        ("providers.local", '{"api_key":"hush-hush"}'),
        ("providers.local.api_key", "hush-hush"),
        ("api_key", "hush-hush"),
        ("base_url", "http://u:hush-hush@127.0.0.1:9/v1"),
    ],
)
def test_a_secret_is_not_told_by_setting_it(marid: Program, key: str, value: str) -> None:
    told = marid("set", key, value)
    assert (told.code, "hush" in told.err + told.text) == (0, False)
