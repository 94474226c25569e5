"""Settings files that anybody may have made."""

import os
import time

import pytest

from fakes.settings import SettingsFiles
from marid.core.errors import BadInput


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\nmax_size_mb = \n", r"config\.toml:2: Invalid value"),
        ("a = 1\n# \udcff", r"config\.toml:2: .*utf-8"),
        ("fuel = [", r"config\.toml:1: Invalid value; the file ends before it is complete"),
        ("\nfuel = [\n  1,\n  2\n", r"config\.toml:2: Unclosed array; the file"),
        ('a = 1\nb = """\nc = 3\n', r"config\.toml:2: Unterminated string; the file"),
        ("a = 1\nb = '''\nc = 3\n", r"config\.toml:2: .*; the file"),
        ("a = 1\n\n[t", r"config\.toml:3: Expected ']'"),
    ],
)
def test_a_file_that_is_no_toml_is_told_by_name_and_line(place: SettingsFiles, text: str, words: str) -> None:
    (place.home / "config.toml").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadInput, match=words):
        place.load()


@pytest.mark.parametrize("name", ["config.toml", "models.toml", "cli.toml"])
def test_a_folder_in_the_place_of_a_file_is_told(place: SettingsFiles, name: str) -> None:
    (place.home / name).mkdir()
    with pytest.raises(BadInput, match=f"{name}: Is a directory"):
        place.load()


def test_a_pipe_or_a_device_in_the_place_of_a_file_is_told_at_once(place: SettingsFiles) -> None:
    os.mkfifo(place.project / ".marid.toml")
    (place.home / "config.toml").symlink_to("/dev/zero")
    with pytest.raises(BadInput, match=r"(?s)config\.toml: not a regular file.*\.marid\.toml: not a regular file"):
        place.load()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"rules = {'[' * 100_000}", "nested too deeply"),
        ("#" * 262_145, "larger than 262,144"),
        ("a." * 100_000 + "a = 1", "too many parts"),
        (f"[{'a . ' * 50_000}a]\nb = 1", "too many parts"),
        ('"a".' * 50_000 + "a = 1", "too many parts"),
        ("fuel = " + "9" * 10_000, "digits"),
        ("".join(f"key{number} = 1\n" for number in range(18_000)), "and perhaps more"),
        ("a" * 250_000 + " = 1", "unknown key 'aaaa"),
        ('x = """' + '\\"' * 120_000 + '"""', "unknown key 'x'"),
        ("".join(f"{'a.' * 22}k{number} = 1\n" for number in range(4_500)), "unknown key 'a'"),
        ("\n" * 250_000 + "x = 1", ":250001: unknown key 'x'"),
    ],
    ids=["deep", "large", "dots", "header", "quoted", "digits", "keys", "name", "escapes", "parts", "lines"],
)
def test_a_hostile_file_is_told_and_does_not_hang(place: SettingsFiles, text: str, words: str) -> None:
    place.marid_toml(text)
    before = time.monotonic()
    with pytest.raises(BadInput, match=words) as caught:
        place.load()
    assert time.monotonic() - before < 10
    assert len(str(caught.value)) < 100_000


def test_a_hostile_file_in_a_lenient_home_is_told_in_few_notes(place: SettingsFiles) -> None:
    place.config("auto_compact = true\n" + "".join(f"key{number} = 1\n" for number in range(5000)) + "fuel = 3\n")
    found = place.resolve()
    assert (len(found.notes), found.settings.conversation.fuel) == (50, 3)


def test_a_key_with_control_characters_is_shown_without_them(place: SettingsFiles) -> None:
    place.config('"\\u001b[2Jx" = 1\n')
    with pytest.raises(BadInput) as caught:
        place.load()
    assert "\x1b" not in str(caught.value)


def test_a_long_value_is_told_in_short(place: SettingsFiles) -> None:
    place.config(f'fuel = "{"x" * 5000}"\n')
    with pytest.raises(BadInput) as caught:
        place.load()
    assert len(str(caught.value)) < 400


def test_a_file_that_is_not_there_behind_a_link_is_none(place: SettingsFiles) -> None:
    (place.home / "config.toml").symlink_to("nowhere")
    assert place.load().conversation.fuel == 30


def test_of_two_names_of_one_key_ours_is_the_stronger_in_any_order(place: SettingsFiles) -> None:
    for text in (
        'files = ["/a"]\nfile_tools_allowed_paths = ["/b"]\n',
        'file_tools_allowed_paths = ["/b"]\nfiles = ["/a"]\n',
    ):
        place.config(text)
        assert place.load().tools.files == ("/a",)


@pytest.mark.parametrize(
    ("line", "words"),
    [("api = 1", "'api' must be a table$"), ("[api]\nreasoning = 3", "'api.reasoning' must be a table$"),
     ("[[api]]\nseed = 1", "'api' must be a table$"), ("providers.a.b.c = 1", "unknown key 'providers.a.b'"),
     ('providers."a.b".model = "m"', "unknown key 'providers.a.b"),
     ("[providers]\n'' = {}", "unknown key 'providers.'"),
     ("mask = {}", "'mask' must be true or false, not a table"), ("mask = [1]", "not a list")],
)  # fmt: skip
def test_a_table_is_a_table(place: SettingsFiles, line: str, words: str) -> None:
    place.config(f"{line}\n")
    with pytest.raises(BadInput, match=words):
        place.load()


def test_a_wrong_colour_is_told_with_its_line_beside_all_else(place: SettingsFiles) -> None:
    place.config("fuel = -1\n")
    place.cli('verbose = true\n[markdown_style]\nh1 = "nocolour"\nh2 = "bright-red"\n')
    with pytest.raises(BadInput, match=r"(?s)'fuel' must be.*not 'nocolour'") as told:
        place.resolve()
    lines = str(told.value).splitlines()
    assert "cli.toml:3: 'markdown_style.h1' must be #RRGGBB or one of black, red, " in lines[2]
    assert lines[3].endswith("not 'bright-red'; did you mean 'bright_red'?")


def test_a_colour_that_only_chibi_knows_is_told_and_the_usual_one_used(place: SettingsFiles) -> None:
    place.config("url_policy = {}\n")
    place.cli('[markdown_style]\nh1 = "mauve"\nh2 = "red"\n')
    found = place.resolve()
    assert found.settings.display.markdown_style == {"h2": "red"}
    assert any("cli.toml:2:" in note and "the default colour is used" in note for note in found.notes)


def test_an_empty_name_of_the_user_is_told_in_a_home_of_chibis_and_the_usual_one_used(place: SettingsFiles) -> None:
    place.config('url_policy = {}\nusername = ""\n')
    found = place.resolve()
    assert found.settings.conversation.username == "user"
    assert any("config.toml:2:" in note and "the default name is used" in note for note in found.notes)
    place.config('username = ""\n')
    with pytest.raises(BadInput, match="'username' must be a line of text"):
        place.resolve()


@pytest.mark.parametrize("url", [r"http://[:::]/v1", r"http://ho\u0001st/v1", r"http://\u00AD/v1", r"http://a\uFF0Fb"])
def test_an_address_that_cannot_be_taken_apart_is_told_with_its_line(place: SettingsFiles, url: str) -> None:
    place.config(f'base_url = "{url}"\n')
    with pytest.raises(BadInput, match=r"config.toml:1: 'base_url' must be an http or https URL"):
        place.resolve()


def test_a_wrong_address_is_told_with_its_line_and_without_its_password(place: SettingsFiles) -> None:
    place.config('fuel = -1\nbase_url = "ftp://me:canary@h/v1"\n[providers.p]\nbase_url = "nourl"\n')
    with pytest.raises(BadInput) as told:
        place.resolve()
    lines = str(told.value).splitlines()[2:]
    assert "config.toml:2: 'base_url' must be an http or https URL" in lines[0]
    assert "config.toml:4: 'providers.p.base_url' must be an http or https URL" in lines[1]
    assert "canary" not in str(told.value)
