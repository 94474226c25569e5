"""All layers of settings, read and merged. Imported when something is set."""

from collections.abc import Mapping
from typing import NamedTuple

from marid.bootstrap.settings.env_flags import environment_layer, flag_layer
from marid.bootstrap.settings.layer import Layer, SettingsDiagnostics, drop_rival_effort, merge_layers
from marid.bootstrap.settings.models_file import IDENTITY_KEYS, choose_model, provider_ids, read_models
from marid.bootstrap.settings.project_limits import tighten
from marid.bootstrap.settings.toml_files import LayerReader, read_toml
from marid.core.settings.schema import CHIBI_KEYS
from marid.core.settings.values import SettingsFiles


class MergedLayers(NamedTuple):
    """What is set, and notes for the user."""

    layer: Layer
    notes: tuple[str, ...]


def merge_sources(
    files: SettingsFiles, environ: Mapping[str, str], flags: Mapping[str, object], *, is_chibi_home: bool = False
) -> MergedLayers:
    """Read every file once and merge all layers.

    In a home that Chibi uses as well, unknown keys are notes, as Chibi itself ignores them. A home is Chibi's if its
    name says so or if its config.toml has a key that only Chibi knows.

    Raises: BadInput with every problem.
    """
    findings = SettingsDiagnostics()
    notes = findings.notes
    config_file, *other_files = map(read_toml, files)
    lenient = is_chibi_home or not CHIBI_KEYS.isdisjoint(config_file.table)
    config_reader = LayerReader(config_file, findings, lenient=lenient)
    models_reader, project_reader, local_reader, cli_reader, own_cli_reader = (
        LayerReader(file, findings, kind, lenient=lenient and kind != "project")
        for file, kind in zip(other_files, ("config", "project", "local", "cli", "cli"), strict=True)
    )
    config = drop_rival_effort(config_reader.read_layer(), notes)
    outside = drop_rival_effort(environment_layer(environ, provider_ids(config), findings), notes)
    models = read_models(models_reader, notes)
    project = project_reader.read_layer()
    local = drop_rival_effort(local_reader.read_layer(), notes)
    given = drop_rival_effort(flag_layer(flags, findings), notes)
    choice = choose_model((config, outside, local, given), models, notes)
    below = merge_layers((config, cli_reader.read_layer(), outside, models.layer_for(choice.names)))
    merged = merge_layers((tighten(below, project, project_reader), local, own_cli_reader.read_layer(), given))
    findings.raise_problems()
    # The chosen provider and model replace what the layers said about them one by one.
    rest = {name: value for name, value in merged.items() if name not in IDENTITY_KEYS}
    return MergedLayers({**rest, **choice.layer}, tuple(notes))
