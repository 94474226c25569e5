"""All layers of settings, read and put together."""

from collections.abc import Mapping

from marid.bootstrap.layers import Findings, Layer, empty, put_over, settled
from marid.bootstrap.layers_files import DISPLAY_FILE, PROJECT_FILE, Reader, TomlFile, read_toml
from marid.bootstrap.layers_models import IDENTITY, chosen_model, provider_ids, read_models
from marid.bootstrap.layers_outside import from_environment, from_flags
from marid.bootstrap.layers_project import Hearers, tightened
from marid.core.errors import BadInput
from marid.core.settings import CHIBI_ONLY, Files


class Stack:
    """Reads the files once; `notes` are what a person should know about them.

    Unknown keys in a home that Chibi uses as well are notes, as Chibi itself ignores them: a home is Chibi's when
    its name says so or when its config.toml has a key that only Chibi knows.
    """

    def __init__(self, files: Files, *, is_of_chibi: bool = False) -> None:
        self._findings = Findings()
        self._config, self._models, self._project, self._local, self._cli, self._own_cli = (
            read_toml(path, self._findings) if path else TomlFile(path) for path in files
        )
        lenient = is_of_chibi or not CHIBI_ONLY.isdisjoint(self._config.table)
        self._reader = Reader(self._findings, lenient=lenient)
        self._strict = Reader(self._findings)
        self.notes = self._findings.notes

    def put_together(self, environ: Mapping[str, str], flags: Mapping[str, object]) -> tuple[Layer, Layer]:
        """What is in force, and what of it is about the display.

        Raises: BadInput that names every problem.
        """
        config = self._settled(self._reader.layer(self._config))
        outside, shown = from_environment(environ, provider_ids(config.values), self._findings)
        models = read_models(self._models, self._reader, self.notes)
        project = self._strict.layer(self._project, PROJECT_FILE)
        local = self._settled(self._reader.layer(self._local, own=True))
        given, given_display = from_flags(flags, self._findings)
        chosen = chosen_model((config, self._settled(outside), local, self._settled(given)), models, self.notes)
        below = put_over(put_over(config, outside), models.layer(chosen.names))
        together = put_over(put_over(self._tightened(below, project), local), given)
        display = self._display(shown, given_display)
        self._findings.check()
        return _identified(together, chosen.layer), display

    def _settled(self, layer: Layer) -> Layer:
        return settled(layer, self.notes)

    def _tightened(self, below: Layer, project: Layer) -> Layer:
        return tightened(below, project, Hearers(self._wrong, self._ignored))

    def _wrong(self, name: str, why: BadInput) -> None:
        self._strict.problem(self._project, tuple(name.split(".")), why)

    def _ignored(self, name: str, why: str) -> None:
        self._strict.note(self._project, tuple(name.split(".")), why)

    def _display(self, shown: Layer, given: Layer) -> Layer:
        made = self._reader.layer(self._cli, DISPLAY_FILE)
        for layer in (shown, self._reader.layer(self._own_cli, DISPLAY_FILE), given):
            made = put_over(made, layer)
        return made


def _identified(together: Layer, chosen: Layer) -> Layer:
    """With the provider and model that are meant in the place of what the layers said about them one by one."""
    made = empty()
    for name, value in together.values.items():
        if name not in IDENTITY:
            made.put(name, value, together.origins[name])
    return put_over(made, chosen)
