"""Every setting from every place where it may stand, weak to strong."""

import os
from pathlib import Path

import pytest

from fakes.settings import SAMPLES, SHOWN, Sample, SettingsFiles, value_of
from marid.bootstrap.settings.settings_resolver import resolve_settings
from marid.core.errors import BadInput
from marid.core.settings.schema import ANY_PROVIDER, SETTINGS, SETTINGS_BY_NAME, UNSUPPORTED_KEYS
from marid.core.settings.values import Settings, make_settings

EVERYWHERE = {name: one for name, one in SAMPLES.items() if SETTINGS_BY_NAME.get(name, SETTINGS[-1]).per_conversation}
AT_HOME = sorted(SAMPLES.keys() - EVERYWHERE.keys())
KNOWN = ", ".join(one.name for one in SETTINGS if "." not in one.name and not one.display)


def test_every_setting_has_a_sample() -> None:
    plain = [one for one in SETTINGS if one.kind != "table"]
    assert SAMPLES.keys() == {one.name.replace(ANY_PROVIDER, "work") for one in plain if not one.display}
    assert SHOWN.keys() == {one.name for one in plain if one.display}


def test_without_anything_the_defaults_are_in_force(place: SettingsFiles) -> None:
    found = place.resolve()
    assert found == (Settings(home=str(place.home)), {}, ())


@pytest.mark.parametrize(("name", "sample"), SAMPLES.items(), ids=SAMPLES)
def test_a_setting_may_stand_in_config_toml(place: SettingsFiles, name: str, sample: Sample) -> None:
    place.config(f"{name} = {sample.toml}\n")
    found = place.resolve()
    assert value_of(found, name) == sample.value
    assert found.origins[name] == str(place.home / "config.toml")


@pytest.mark.parametrize(("name", "sample"), SAMPLES.items(), ids=SAMPLES)
def test_a_setting_has_a_variable_which_is_stronger_than_config_toml(
    place: SettingsFiles, name: str, sample: Sample
) -> None:
    variable = f"MARID_{name.upper().replace('.', '_')}"
    assert value_of(place.within({variable: ""}), name) != sample.value
    found = place.within({variable: sample.text})
    assert value_of(found, name) == sample.value
    assert found.origins[name] == variable
    if not name.startswith(("tools.exclude", "policy")):
        place.config(f"{name} = {other(name, sample)}\n")
        assert value_of(place.within({variable: sample.text}), name) == sample.value


@pytest.mark.parametrize(("name", "sample"), EVERYWHERE.items(), ids=EVERYWHERE)
def test_a_setting_may_stand_in_the_conversation_s_local_toml(place: SettingsFiles, name: str, sample: Sample) -> None:
    place.local(f"{name} = {sample.toml}\n")
    found = place.resolve()
    assert value_of(found, name) == sample.value
    assert found.origins[name] == str(place.own / "local.toml")
    assert resolve_settings(str(place.home), {}, str(place.project)).settings == Settings(home=str(place.home))


@pytest.mark.parametrize(("name", "sample"), EVERYWHERE.items(), ids=EVERYWHERE)
def test_a_setting_may_be_given_by_a_flag_as_a_text_or_typed(place: SettingsFiles, name: str, sample: Sample) -> None:
    if not name.startswith(("tools.exclude", "policy")):
        place.local(f"{name} = {other(name, sample)}\n")
    for raw in (sample.text, sample.value):
        found = place.resolve({name: raw})
        assert value_of(found, name) == sample.value
        assert found.origins[name] == "flag"
    table, _, key = name.rpartition(".")
    if table in ("api", "storage", "tools"):
        assert value_of(place.resolve({table: {key: sample.value}}), name) == sample.value


def other(name: str, sample: Sample) -> str:
    """Another value than the sample's, as TOML."""
    match sample.value:
        case bool():
            return str(not sample.value).lower()
        case int() | float():
            return "1"
        case str() if name.endswith("base_url"):
            return '"http://other/v1"'
        case str():
            choices = SETTINGS_BY_NAME[name].choices if name in SETTINGS_BY_NAME else ()
            return f'"{next((one for one in choices if one != sample.value), "other")}"'
        case tuple():
            return '["other"]'
        case _:
            return '"none"' if name == "api.tool_choice" else '{type = "text"}'


@pytest.mark.parametrize("name", AT_HOME)
def test_what_concerns_all_conversations_may_not_be_set_by_one_of_them(place: SettingsFiles, name: str) -> None:
    place.local(f"{name} = {SAMPLES[name].toml}\n")
    with pytest.raises(BadInput, match=rf"local\.toml:1: '{name}' may only be set in config\.toml or by MARID_"):
        place.resolve()
    place.local("")
    with pytest.raises(BadInput, match=f"flag: '{name}' may only be set in config.toml or by MARID_"):
        place.resolve({name: SAMPLES[name].text})


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.startswith("api.")])
def test_a_parameter_may_stand_in_models_toml_for_one_model(place: SettingsFiles, name: str) -> None:
    place.config('model = "m"\n')
    field = name.removeprefix("api.")
    place.models(
        f"[models.m.api]\n{field} = {SAMPLES[name].toml}\n[models.n.api]\n{field} = {other(name, SAMPLES[name])}\n"
    )
    found = place.resolve()
    assert value_of(found, name) == SAMPLES[name].value
    assert found.origins[name] == str(place.home / "models.toml")
    assert value_of(place.resolve({"model": "x"}), "api") == {}


@pytest.mark.parametrize(("name", "sample"), SHOWN.items(), ids=SHOWN)
def test_what_is_shown_may_be_set_in_cli_toml_by_variables_and_by_flags(
    place: SettingsFiles, name: str, sample: Sample
) -> None:
    assert value_of(place.resolve({name: sample.text}), name) == sample.value
    assert value_of(place.resolve({name: sample.value}), name) == sample.value
    variable = f"MARID_{name.upper().replace('.', '_')}"
    assert place.within({variable: sample.text}).origins[name] == variable
    for own in (False, True):
        place.cli(f"{name} = {sample.toml}\n", own=own)
        found = place.resolve()
        assert value_of(found, name) == sample.value
        assert found.origins[name] == str((place.own if own else place.home) / "cli.toml")


def test_of_two_cli_toml_the_conversation_s_own_is_the_stronger(place: SettingsFiles) -> None:
    place.cli("verbose = true\nhide_tool_calls = true\n")
    place.cli("verbose = false\n", own=True)
    found = place.resolve(MARID_VERBOSE="yes")
    assert (found.settings.display.verbose, found.settings.display.hide_tool_calls) == (False, True)
    assert place.resolve({"verbose": True}).settings.display.verbose


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", True), ("TRUE", True), ("yes", True), ("on", True), ("0", False), ("False", False), ("no", False)],
)
def test_a_switch_may_be_written_in_several_ways(place: SettingsFiles, text: str, value: bool) -> None:
    assert place.load(MARID_MASK=text).context.mask is value


@pytest.mark.parametrize(
    ("alias", "name", "text", "stronger"),
    [("JINNI_MAX_SIZE_MB", "max_size_mb", "3", "4"), ("CHIBI_MODEL", "model", "a", "b"),
     ("CHIBI_API_KEY", "api_key", "k1", "k2")],
)  # fmt: skip
def test_the_names_of_the_documents_count_and_ours_are_stronger(
    place: SettingsFiles, alias: str, name: str, text: str, stronger: str
) -> None:
    assert str(value_of(place.within({alias: text}), name)).startswith(text)
    both = {alias: text, f"MARID_{name.upper()}": stronger}
    assert str(value_of(place.within(both), name)).startswith(stronger)
    assert place.within({alias: text}).origins[name] == alias


def test_the_recursion_depth_of_an_older_home_is_fuel(place: SettingsFiles) -> None:
    place.config("max_recursion_depth = 9\n")
    assert place.resolve().settings.conversation.fuel == 9
    assert place.resolve({"max_recursion_depth": "8"}).settings.conversation.fuel == 8
    place.config("fuel = 3\nmax_recursion_depth = 9\n")
    assert place.resolve().settings.conversation.fuel == 3


def test_the_required_config_of_an_older_home_works_as_it_is(place: SettingsFiles) -> None:
    place.config('api_key = "k"\nmodel = "m"\ncontext_window_limit = 100000\nwarn_threshold_percent = 75.0\n')
    found = place.resolve()
    assert found.notes == ()
    assert found.settings == make_settings(
        home=str(place.home), api_key="k", model="m", context_window_limit=100_000, warn_threshold_percent=75.0
    )


@pytest.mark.parametrize("tail", ["", "/", "/chat/completions", "/chat/completions/"])
def test_the_address_of_an_older_home_may_name_the_call_itself(place: SettingsFiles, tail: str) -> None:
    place.config(f'base_url = "https://h.example/api/v1{tail}"\nproviders.x.base_url = "http://x/v1{tail}"\n')
    found = place.resolve().settings
    assert found.model.base_url == "https://h.example/api/v1"
    assert found.model.providers["x"]["base_url"] == "http://x/v1"


def test_blanks_around_an_address_do_no_harm(place: SettingsFiles) -> None:
    place.config('base_url = " http://x/v1/ "\n')
    assert place.resolve().settings.model.base_url == "http://x/v1"


def test_the_list_of_allowed_paths_of_a_chibi_home_is_read(place: SettingsFiles) -> None:
    place.config('file_tools_allowed_paths = ["/srv/a"]\n')
    assert place.resolve().settings.tools.files == ("/srv/a",)
    assert place.resolve().notes == ()


@pytest.mark.parametrize("key", sorted(UNSUPPORTED_KEYS))
def test_a_key_of_a_part_that_is_not_built_yet_is_a_note_that_names_it(place: SettingsFiles, key: str) -> None:
    place.config(f"{key} = 1\n")
    assert place.resolve().notes == (f"{place.home / 'config.toml'}:1: '{key}' is not supported yet",)
    place.config("")
    assert place.resolve({key: "1"}).notes == (f"flag: '{key}' is not supported yet",)
    place.marid_toml(f"{key} = 1\n")
    with pytest.raises(BadInput, match=f"unknown key '{key}'"):
        place.resolve()


def test_all_problems_are_told_at_once_with_lines_and_suggestions(place: SettingsFiles) -> None:
    place.config('max_size = 5\nzzzzz = 1\nmask = "maybe"\n\n[api]\ntemprature = 1\nmax_tokens = 0\n')
    place.models("[models.m]\nwindow = 1\n")
    place.local('fuel = "lots"\nverbose = true\n')
    place.cli("fuel = 1\n")
    place.marid_toml("\n\nmax_size_mb = -1\n")
    with pytest.raises(BadInput) as caught:
        place.resolve({"modle": "x"}, MARID_MASK="perhaps")
    config, models, own = place.home / "config.toml", place.home / "models.toml", place.own / "local.toml"
    assert str(caught.value).split("\n") == [
        "invalid settings:",
        f"  {config}:1: unknown key 'max_size'; did you mean 'max_size_mb'?",
        f"  {config}:2: unknown key 'zzzzz'; known keys: {KNOWN}",
        f"  {config}:3: 'mask' must be true or false, not 'maybe'",
        f"  {config}:6: unknown key 'api.temprature'; did you mean 'api.temperature'?",
        f"  {config}:7: 'api.max_tokens' must be a whole number of at least 1, not 0",
        "  MARID_MASK: 'mask' must be true or false, not 'perhaps'",
        f"  {models}:2: unknown key 'models.m.window'; known keys: model, context_window, api",
        f"  {place.project / '.marid.toml'}:3: 'max_size_mb' must be a number above 0, not -1",
        f"  {own}:1: 'fuel' must be a whole number of at least 0, not 'lots'",
        f"  {own}:2: unknown key 'verbose'; it belongs in cli.toml",
        "  flag: unknown key 'modle'; did you mean 'model'?",
        f"  {place.home / 'cli.toml'}:1: unknown key 'fuel'; it belongs in config.toml",
    ]


def test_in_a_home_that_chibi_uses_unknown_keys_are_notes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    config = home / "config.toml"
    config.write_text("later_invention = 1\nfuel = 2\n")
    with pytest.raises(BadInput, match="later_invention"):
        resolve_settings(str(home), {"CHIBI_HOME": "/elsewhere"}, "")
    found = resolve_settings(str(home), {"CHIBI_HOME": str(home)}, "")
    assert (found.settings.conversation.fuel, len(found.notes)) == (2, 1)
    assert found.notes[0].startswith(f"{config}:1: unknown key 'later_invention'")
    config.write_text("later_invention = 1\nauto_compact = true\n")
    assert len(resolve_settings(str(home), {}, "").notes) == 2
    chibi = tmp_path / ".chibi"
    home.rename(chibi)
    (chibi / "config.toml").write_text("later_invention = 1\n")
    assert len(resolve_settings(str(chibi), {}, "").notes) == 1


def test_a_value_that_is_wrong_is_a_problem_in_chibi_s_home_too(place: SettingsFiles) -> None:
    place.config('auto_compact = true\nfuel = "x"\n')
    with pytest.raises(BadInput, match="'fuel' must be"):
        place.resolve()


@pytest.mark.parametrize("name", ["../x", "a/b", "system", "-"])
def test_a_name_that_is_none_is_refused_before_any_file_is_looked_at(place: SettingsFiles, name: str) -> None:
    with pytest.raises(BadInput, match="cannot be the name of a conversation"):
        resolve_settings(str(place.home), {}, str(place.project), name)


def test_a_key_never_appears_in_a_message_an_origin_or_a_repr(place: SettingsFiles) -> None:
    canary = "sk-canary-key"
    place.config(f'api_key = "{canary}"\n[providers.a]\napi_key = "{canary}"\n')
    found = place.resolve({"provider": "a"}, CHIBI_API_KEY=canary)
    assert found.settings.model.api_key == canary
    assert canary not in repr(found)
    wrong = [
        f"api_key = {canary}", f'api_key = "{canary}', f'api_key = "{canary}"\napi_key = "{canary}"',
        f'api = "{canary}"', f'api_key = ["{canary}"]', f'providers = "{canary}"', f'providers.x = "{canary}"',
        f'providers.x.api_key = ["{canary}"]', f'tools = "{canary}"', f'storage = ["{canary}"]',
        f'api.reasoning = "{canary}"', f'apikey = "{canary}"', f'providers.x.key = "{canary}"',
    ]  # fmt: skip
    for line in wrong:
        place.config(f"{line}\n")
        with pytest.raises(BadInput) as caught:
            place.resolve()
        assert canary not in str(caught.value), line
    place.config("")
    for flags in ({"api_key": [canary]}, {"api": canary}, {"apikey": canary}, {"providers": canary}):
        with pytest.raises(BadInput) as caught:
            place.resolve(flags)
        assert canary not in str(caught.value)


def test_a_plain_run_looks_at_nothing_but_what_is_there(place: SettingsFiles) -> None:
    assert place.load(MARID_HOME="/m", CHIBI_HOME="/c", MARID_PROJECT_ROOT="/p", PATH="/bin").conversation.fuel == 30
    assert os.listdir(place.project) == []


def test_a_home_of_chibi_is_read_leniently_and_a_project_never(place: SettingsFiles) -> None:
    place.config("new_key = 4\nauto_compact = true\n")
    place.cli("other_key = 1\n[image]\nrender_images = true\n")
    found = place.resolve()
    assert (found.settings, len(found.notes)) == (Settings(home=str(place.home)), 4)
    place.marid_toml("new_key = 1\n")
    with pytest.raises(BadInput, match="unknown key 'new_key'"):
        place.resolve()
