"""models.toml: other names of models, and how each should be asked; and which model is meant in the end."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from marid.bootstrap.settings.layer import SettingsLayer, drop_rival_effort, empty_layer, merge_layers
from marid.bootstrap.settings.toml_files import LayerReader, TomlFile
from marid.core.errors import BadInput
from marid.core.settings.schema import suggestion
from marid.core.settings.validation import check_value, printable_key
from marid.core.settings.values import PROVIDERS, Setting

_TABLES = ("aliases", "models")
_MAX_CHAIN = 16
_KEYS = ("model", "context_window", "api")
# No limit of a person's own: what the model itself can take in.
_WINDOW = Setting("context_window", "most tokens of a request", kind="whole")
_PROVIDER_FIELDS = ("base_url", "api_key", "model")
IDENTITY_KEYS = ("provider", *_PROVIDER_FIELDS)
_UNNAMED = "(base_url)"
# How a Chibi home names a kind of model and leaves the choice to its own library.
_PRESET = "ratatoskr:"


class ModelTable(NamedTuple):
    """What models.toml says: which model a name stands for, and the settings of each."""

    path: str = ""
    aliases: Mapping[str, str] = MappingProxyType({})
    entries: Mapping[str, SettingsLayer] = MappingProxyType({})

    def alias_chain(self, name: str) -> tuple[str, ...]:
        """The name itself, what it stands for, what that stands for, and so on."""
        names = [name]
        while len(names) < _MAX_CHAIN and (name := self.aliases.get(name, "")) and name not in names:
            names.append(name)
        return tuple(names)

    def layer_for(self, names: Iterable[str]) -> SettingsLayer:
        """The settings of a model under all of its names, of which the first are the stronger."""
        made = empty_layer()
        for name in reversed(tuple(names)):
            made = merge_layers(made, self.entries.get(name, empty_layer()))
        return made


def read_models(file: TomlFile, reader: LayerReader, notes: list[str]) -> ModelTable:
    """What the file says; everything in it is checked, whichever model is asked."""
    aliases: dict[str, str] = {}
    entries: dict[str, SettingsLayer] = {}
    for key in file.table.keys() - set(_TABLES):
        reader.report_unknown(file, (key,), suggestion(key, _TABLES))
    for name, target in _require_table(file, ("aliases",), file.table.get("aliases", {}), reader).items():
        _add_alias(file, ("aliases", name), target, aliases, reader)
    for name, raw in _require_table(file, ("models",), file.table.get("models", {}), reader).items():
        entry = _require_table(file, ("models", name), raw, reader)
        if "model" in entry:
            _add_alias(file, ("models", name, "model"), entry["model"], aliases, reader, name)
        entries[name] = drop_rival_effort(_model_layer(file, name, entry, reader), notes)
    _check_alias_ends(file, aliases, reader)
    return ModelTable(file.path, aliases, entries)


def _require_table(file: TomlFile, at: tuple[str, ...], raw: object, reader: LayerReader) -> Mapping[str, Any]:
    if isinstance(raw, dict):
        return cast("dict[str, Any]", raw)
    reader.report_problem(file, at, f"'{printable_key('.'.join(at))}' must be a table")
    return {}


def _add_alias(  # noqa: PLR0913, PLR0917 - a key of a file and where it goes
    file: TomlFile, at: tuple[str, ...], target: object, aliases: dict[str, str], reader: LayerReader, name: str = ""
) -> None:
    name = name or at[-1]
    if not isinstance(target, str) or not target:
        reader.report_problem(file, at, f"'{printable_key('.'.join(at))}' must be the name of a model")
    elif aliases.setdefault(name, target) != target:
        reader.report_problem(file, at, f"'{printable_key(name)}' stands for '{printable_key(aliases[name])}' already")


def _check_alias_ends(file: TomlFile, aliases: Mapping[str, str], reader: LayerReader) -> None:
    models = ModelTable(file.path, aliases)
    for name in aliases:
        if models.alias_chain(name)[-1] in aliases:
            reader.report_problem(file, ("aliases", name), f"'{printable_key(name)}' stands for no model in the end")


def _model_layer(file: TomlFile, name: str, entry: Mapping[str, Any], reader: LayerReader) -> SettingsLayer:
    made = empty_layer()
    for key, raw in entry.items():
        at = ("models", name, key)
        match key:
            case "api":
                found = reader.read_table(file, at, key, raw)
                made.values.update(found.values)
                made.origins.update(found.origins)
            case "context_window":
                try:
                    made.set_value("model_window", check_value(_WINDOW, raw), file.path)
                except BadInput as error:
                    reader.report_problem(file, at, error)
            case "model":
                pass
            case _:
                reader.report_unknown(file, at, suggestion(key, _KEYS))
    return made


class ModelChoice(NamedTuple):
    """Who is asked, as a layer of its own, and the names of the model from the one that was given to its id."""

    layer: SettingsLayer
    names: tuple[str, ...]


def choose_model(layers: Sequence[SettingsLayer], models: ModelTable, notes: list[str]) -> ModelChoice:
    """Which provider and model the layers, weak to strong, mean in the end.

    A layer that names another provider leaves nothing of what belonged to the one before: least of all its key.
    """
    rows = empty_layer()
    for layer in layers:
        rows = merge_layers(rows, layer)
    ids = {*PROVIDERS, *provider_ids(rows.values)}
    made = empty_layer()
    names: tuple[str, ...] = ()
    for layer in layers:
        own = _identity_layer(layer, notes)
        own_names = _expand_model(own, models, ids)
        provider = own.values.get("provider")
        before = _implied_provider(made.values)
        if provider and before and provider != before:
            made, names = empty_layer(), ()
        names = own_names or names
        made = merge_layers(made, own)
    return _fill_from_provider(made, names, rows, models, _implied_provider(made.values))


def provider_ids(values: Mapping[str, object]) -> tuple[str, ...]:
    """The providers that have tables of their own."""
    return tuple(dict.fromkeys(name.split(".")[1] for name in values if name.startswith("providers.")))


def _identity_layer(layer: SettingsLayer, notes: list[str]) -> SettingsLayer:
    own = empty_layer()
    for name in IDENTITY_KEYS:
        if name not in layer.values:
            continue
        if name == "model" and str(layer.values[name]).startswith(_PRESET):
            notes.append(f"{layer.origins[name]}: a preset of another program is no model here; say which one you mean")
            continue
        own.set_value(name, layer.values[name], layer.origins[name])
    return own


def _expand_model(own: SettingsLayer, models: ModelTable, ids: Collection[str]) -> tuple[str, ...]:
    """The names of a layer's model, whose last one takes its place; `provider:model` is told apart."""
    if not own.values.get("model"):
        return ()
    names = list(models.alias_chain(str(own.values["model"])))
    origin = own.origins["model"]
    if len(names) > 1:
        origin = f"{origin}, where '{printable_key(names[0])}' is an alias of {models.path}"
    provider, colon, model = names[-1].partition(":")
    if colon and model and provider in ids:
        names.append(model)
        if "provider" not in own.values:
            own.set_value("provider", provider, origin)
    own.set_value("model", names[-1], origin)
    return tuple(names)


def _implied_provider(values: Mapping[str, object]) -> str:
    """The provider that is meant where none is named. A service that has nothing but an address speaks as OpenAI does,
    but is not OpenAI, and gets nothing that belongs to it.
    """
    if values.get("provider"):
        return str(values["provider"])
    return _UNNAMED if values.get("base_url") else "openrouter" if values.get("api_key") else ""


def _fill_from_provider(
    made: SettingsLayer, names: tuple[str, ...], rows: SettingsLayer, models: ModelTable, provider: str
) -> ModelChoice:
    """What the provider's own table says, where nothing stronger did."""
    for field in _PROVIDER_FIELDS:
        row = f"providers.{provider}.{field}"
        if made.values.get(field) or row not in rows.values:
            continue
        made.set_value(field, rows.values[row], rows.origins[row])
        if field == "model":
            names = _expand_model(made, models, (provider,))
    return ModelChoice(made, names)
