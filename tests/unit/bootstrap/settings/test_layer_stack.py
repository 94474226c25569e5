import pytest

from fakes.settings import Place
from marid.bootstrap.settings.layer_stack import merge_sources
from marid.core.errors import BadInput
from marid.core.settings.values import settings_files


def test_each_file_is_read_once_and_all_are_merged(place: Place) -> None:
    place.config("fuel = 4\n")
    place.cli("verbose = true\n")
    merged = merge_sources(settings_files(str(place.home), str(place.project)), {}, {})
    assert {name: one.value for name, one in merged.layer.items()} == {"fuel": 4, "verbose": True}
    assert merged.notes == ()


def test_a_home_of_chibi_is_read_leniently_and_a_project_never(place: Place) -> None:
    place.config("new_key = 4\n")
    place.cli("other_key = 1\n")
    files = settings_files(str(place.home), str(place.project))
    merged = merge_sources(files, {}, {}, is_chibi_home=True)
    assert (merged.layer, len(merged.notes)) == ({}, 2)
    place.marid_toml("new_key = 1\n")
    with pytest.raises(BadInput, match="unknown key 'new_key'"):
        merge_sources(files, {}, {}, is_chibi_home=True)


def test_images_of_a_terminal_are_not_built_yet(place: Place) -> None:
    place.cli("verbose = true\n[image]\nrender_images = true\n")
    found = place.resolve()
    assert found.settings.display.verbose
    assert found.notes == (f"{place.home / 'cli.toml'}:2: 'image' is not supported yet",)
