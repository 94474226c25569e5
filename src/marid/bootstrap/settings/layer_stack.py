"""All layers of settings, read and put together."""

from collections.abc import Mapping

from marid.bootstrap.settings.env_flags import environment_layers, flag_layers
from marid.bootstrap.settings.layer import (
    SettingsDiagnostics,
    SettingsLayer,
    drop_rival_effort,
    empty_layer,
    merge_layers,
)
from marid.bootstrap.settings.models_file import IDENTITY_KEYS, choose_model, provider_ids, read_models
from marid.bootstrap.settings.project_limits import TighteningCallbacks, tighten
from marid.bootstrap.settings.toml_files import DISPLAY_FILE, PROJECT_FILE, LayerReader, TomlFile, read_toml
from marid.core.errors import BadInput
from marid.core.settings.values import CHIBI_KEYS, SettingsFiles


class SettingsStack:
    """Reads the files once; `notes` are what a person should know about them.

    Unknown keys in a home that Chibi uses as well are notes, as Chibi itself ignores them: a home is Chibi's when
    its name says so or when its config.toml has a key that only Chibi knows.
    """

    def __init__(self, files: SettingsFiles, *, is_chibi_home: bool = False) -> None:
        self._findings = SettingsDiagnostics()
        self._config, self._models, self._project, self._local, self._cli, self._own_cli = (
            read_toml(path, self._findings) if path else TomlFile(path) for path in files
        )
        lenient = is_chibi_home or not CHIBI_KEYS.isdisjoint(self._config.table)
        self._reader = LayerReader(self._findings, lenient=lenient)
        self._strict_reader = LayerReader(self._findings)
        self.notes = self._findings.notes

    def merge(self, environ: Mapping[str, str], flags: Mapping[str, object]) -> tuple[SettingsLayer, SettingsLayer]:
        """What is in force, and what of it is about the display.

        Raises: BadInput that names every problem.
        """
        config = self._drop_rival_effort(self._reader.read_layer(self._config))
        outside, shown = environment_layers(environ, provider_ids(config.values), self._findings)
        models = read_models(self._models, self._reader, self.notes)
        project = self._strict_reader.read_layer(self._project, PROJECT_FILE)
        local = self._drop_rival_effort(self._reader.read_layer(self._local, is_conversation=True))
        given, given_display = flag_layers(flags, self._findings)
        chosen = choose_model(
            (config, self._drop_rival_effort(outside), local, self._drop_rival_effort(given)), models, self.notes
        )
        below = merge_layers(merge_layers(config, outside), models.layer_for(chosen.names))
        together = merge_layers(merge_layers(self._tighten(below, project), local), given)
        display = self._merge_display(shown, given_display)
        self._findings.raise_problems()
        return _with_model_choice(together, chosen.layer), display

    def _drop_rival_effort(self, layer: SettingsLayer) -> SettingsLayer:
        return drop_rival_effort(layer, self.notes)

    def _tighten(self, below: SettingsLayer, project: SettingsLayer) -> SettingsLayer:
        return tighten(below, project, TighteningCallbacks(self._report_invalid, self._note_ignored))

    def _report_invalid(self, name: str, why: BadInput) -> None:
        self._strict_reader.report_problem(self._project, tuple(name.split(".")), why)

    def _note_ignored(self, name: str, why: str) -> None:
        self._strict_reader.add_note(self._project, tuple(name.split(".")), why)

    def _merge_display(self, shown: SettingsLayer, given: SettingsLayer) -> SettingsLayer:
        made = self._reader.read_layer(self._cli, DISPLAY_FILE)
        for layer in (shown, self._reader.read_layer(self._own_cli, DISPLAY_FILE), given):
            made = merge_layers(made, layer)
        return made


def _with_model_choice(together: SettingsLayer, chosen: SettingsLayer) -> SettingsLayer:
    """With the provider and model that are meant in the place of what the layers said about them one by one."""
    made = empty_layer()
    for name, value in together.values.items():
        if name not in IDENTITY_KEYS:
            made.set_value(name, value, together.origins[name])
    return merge_layers(made, chosen)
