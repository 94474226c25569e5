"""Variables and flags."""

import pytest

from fakes.settings import SettingsFiles
from marid.bootstrap.settings.layer import variable_name
from marid.core.errors import BadInput
from marid.core.settings.schema import SETTINGS


def test_no_two_settings_have_the_same_variable() -> None:
    names = [name for one in SETTINGS for name in (variable_name(one), *one.aliases)]
    assert len(names) == len(set(names))


def test_an_empty_variable_is_none(place: SettingsFiles) -> None:
    assert (
        place.load(JINNI_MAX_SIZE_MB="", MARID_ENCODING="", MARID_MASK="", MARID_PROVIDERS_X_MODEL="").model.providers
        == {}
    )


def test_a_provider_has_variables_by_its_id_however_that_is_spelled(place: SettingsFiles) -> None:
    place.config('[providers.my-Host]\nbase_url = "http://h/v1"\n')
    found = place.load(
        MARID_PROVIDERS_MY_HOST_API_KEY="k",
        MARID_PROVIDERS_NEW_MODEL="m",
        MARID_PROVIDERS_MODEL="x",
        MARID_PROVIDERS_A="y",
    )
    assert found.model.providers == {"my-Host": {"base_url": "http://h/v1", "api_key": "k"}, "new": {"model": "m"}}


def test_what_cannot_be_an_id_is_no_provider(place: SettingsFiles) -> None:
    assert place.within({"MARID_PROVIDERS_A.B_MODEL": "m"}).settings.model.providers == {}


def test_a_variable_that_makes_no_sense_is_told_by_its_name(place: SettingsFiles) -> None:
    with pytest.raises(BadInput) as caught:
        place.load(MARID_FUEL="many", MARID_API_TEMPERATURE="hot", MARID_API_TOOL_CHOICE="{", MARID_RULES="[1]")
    assert str(caught.value).split("\n")[1:] == [
        "  MARID_RULES: 'rules' must be a list of strings, not a list",
        "  MARID_FUEL: 'fuel' must be a whole number of at least 0, not 'many'",
        "  MARID_API_TEMPERATURE: 'api.temperature' must be a number from 0 to 2, not 'hot'",
        "  MARID_API_TOOL_CHOICE: 'api.tool_choice' must be auto or none or required, or a table that names a function,"
        " not '{'",
    ]


def test_lists_in_variables_may_be_json(place: SettingsFiles) -> None:
    assert place.load(MARID_RULES='["a:b", "c"]').context.rules == ("a:b", "c")
    assert place.load(MARID_POLICY='{"hosts": ["a"]}').tools.policy == {"hosts": ["a"]}
    assert place.load(MARID_API_STOP="one").model.api == {"stop": ("one",)}


def test_flags_may_be_tables_typed_or_as_json(place: SettingsFiles) -> None:
    typed = place.resolve({"api": {"reasoning": {"effort": "low"}, "seed": 3}, "markdown_style": {"h1": "blue"}})
    assert typed.settings.model.api == {"reasoning": {"effort": "low"}, "seed": 3}
    assert typed.settings.display.markdown_style == {"h1": "blue"}
    assert place.resolve({"api": '{"seed": 3}'}).settings.model.api == {"seed": 3}
    assert place.resolve({"api.response_format": {"type": "text"}}).settings.model.api["response_format"] == {
        "type": "text"
    }


def test_of_flags_that_say_the_same_the_later_is_the_stronger(place: SettingsFiles) -> None:
    assert place.resolve({"api": {"seed": 3}, "api.seed": "4"}).settings.model.api == {"seed": 4}


def test_a_flag_without_a_value_sets_nothing(place: SettingsFiles) -> None:
    place.config("fuel = 3\n")
    assert place.resolve({"fuel": None, "api": None, "api.seed": None}).settings.conversation.fuel == 3


@pytest.mark.parametrize(
    ("flags", "words"),
    [({"fule": 1}, "unknown key 'fule'; did you mean 'fuel'"), ({"api.temp": 1}, "unknown key 'api.temp'; "),
     ({"api": "hot"}, "'api' must be a table$"), ({"api": {"x": 1}}, "unknown key 'api.x'; known keys: api"),
     ({"fuel": "1.5"}, "'fuel' must be a whole number of at least 0, not '1.5'"), ({"verbos": 1}, "mean 'verbose'"),
     ({"providers.x": "k"}, "'providers.x' must be a table$"), ({"providers.x.y": 1}, "unknown key 'providers.x.y'"),
     ({f"key{number}": 1 for number in range(100)}, "and perhaps more")],
)  # fmt: skip
def test_a_flag_that_makes_no_sense_is_told(place: SettingsFiles, flags: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        place.resolve(flags)
