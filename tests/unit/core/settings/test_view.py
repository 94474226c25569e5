"""Settings as a person reads them."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.settings import SAMPLES, SHOWN, Sample, SettingsFiles
from marid.core.settings.schema import SETTINGS_BY_NAME
from marid.core.settings.view import effective_settings, toml_text


@pytest.fixture
def place(tmp_path: Path) -> SettingsFiles:
    return SettingsFiles(tmp_path)


def test_every_setting_is_there_with_its_default(place: SettingsFiles) -> None:
    found = {one.key: one.text for one in effective_settings(place.resolve())}
    expected = {name for name in (*SAMPLES, *SHOWN) if not name.startswith("providers.")}
    assert found.keys() == expected
    assert (found["fuel"], found["model"], found["api_key"]) == ("30", "(unset)", "(unset)")
    assert (found["warn_threshold_percent"], found["storage.partition_max_entries"]) == ("80", "1000")
    assert (found["api.prompt_caching"], found["api.seed"], found["policy"]) == ("true", "(unset)", "{}")


@pytest.mark.parametrize(("name", "sample"), {**SAMPLES, **SHOWN}.items(), ids=[*SAMPLES, *SHOWN])
def test_a_setting_that_is_set_is_shown_as_toml_with_its_origin(
    place: SettingsFiles, name: str, sample: Sample
) -> None:
    (place.cli if name in SHOWN else place.config)(f"{name} = {sample.toml}\n")
    found = {one.key: one for one in effective_settings(place.resolve())}[name]
    assert found.origin.startswith(str(place.home))
    if name.endswith("api_key"):
        assert (found.value, found.text) == ("(set)", "(set)")
    else:
        written, read = tomllib.loads(f"x = {found.text}"), tomllib.loads(f"x = {sample.toml}")
        assert written == read == {"x": found.value}


def test_what_a_project_narrows_is_shown(place: SettingsFiles) -> None:
    place.marid_toml('[policy]\nexec = "deny"\n')
    found = {one.key: one for one in effective_settings(place.resolve())}["project_policy"]
    assert (found.text, found.origin) == ('{exec = "deny"}', str(place.project / ".marid.toml"))


def test_the_password_of_an_address_is_not_shown(place: SettingsFiles) -> None:
    place.config('base_url = "https://me:canary@host:1/v1"\n')
    assert {one.key: one.text for one in effective_settings(place.resolve())}["base_url"] == '"https://***@host:1/v1"'
    place.config('search_url = "https://host/s?key=canary"\n')
    assert {one.key: one.text for one in effective_settings(place.resolve())}["search_url"] == '"https://host/s?***"'


def test_storage_is_shown_as_the_store_takes_it(place: SettingsFiles) -> None:
    place.config("storage.partition_max_age_seconds = 1\n")
    assert {one.key: one.value for one in effective_settings(place.resolve())}[
        "storage.partition_max_age_seconds"
    ] == 60


def test_a_text_that_was_set_to_nothing_is_shown_as_such(place: SettingsFiles) -> None:
    assert {one.key: one.text for one in effective_settings(place.resolve({"model": ""}))}["model"] == '""'
    assert "model" in SETTINGS_BY_NAME


PLAIN = st.recursive(
    st.booleans() | st.integers(-(10**9), 10**9) | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('ab.- "', min_size=1), inner, max_size=3),
    max_leaves=8,
)


@given(PLAIN)
def test_every_value_is_written_as_toml_reads_it(value: object) -> None:
    assert tomllib.loads(f"x = {toml_text(value)}") == {"x": value}
