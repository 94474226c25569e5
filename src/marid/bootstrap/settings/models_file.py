"""models.toml: aliases of models and the settings of each; and which provider and model the layers choose."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from marid.bootstrap.settings.layer import Layer, LayerReader, SetValue, drop_rival_effort, merge_layers
from marid.core.errors import BadInput
from marid.core.settings.schema import PROVIDERS, Setting
from marid.core.settings.validation import check_value, printable_key
from marid.core.suggestions import close_matches, did_you_mean

_TABLES = ("aliases", "models")
_MAX_CHAIN = 16
_KEYS = ("model", "context_window", "api")
_WINDOW = Setting("context_window", "the model's own window, in tokens", "whole")
_PROVIDER_FIELDS = ("base_url", "api_key", "model")
IDENTITY_KEYS = ("provider", *_PROVIDER_FIELDS)
_UNNAMED = "(base_url)"
# In a Chibi home this prefix leaves the choice of a model to Chibi's own library.
_PRESET = "ratatoskr:"


class ModelTable(NamedTuple):
    """The content of models.toml: the model that an alias stands for, and the settings of each model."""

    path: str = ""
    aliases: Mapping[str, str] = MappingProxyType({})
    entries: Mapping[str, Layer] = MappingProxyType({})

    def alias_chain(self, name: str) -> tuple[str, ...]:
        """The name, what it stands for, what that stands for, and so on."""
        names = [name]
        while len(names) < _MAX_CHAIN and (name := self.aliases.get(name, "")) and name not in names:
            names.append(name)
        return tuple(names)

    def layer_for(self, names: Iterable[str]) -> Layer:
        """The settings of a model under all of its names; those of earlier names are stronger."""
        return merge_layers(self.entries.get(name, {}) for name in reversed(tuple(names)))


def read_models(reader: LayerReader, notes: list[str]) -> ModelTable:
    """Read and check the whole file, whichever model is used."""
    table = reader.file.table
    aliases: dict[str, str] = {}
    entries: dict[str, Layer] = {}
    for key in table.keys() - set(_TABLES):
        reader.report_unknown((key,), _hint(key, _TABLES))
    for name, target in _require_table(("aliases",), table.get("aliases", {}), reader).items():
        _add_alias(name, target, aliases, reader, ("aliases", name))
    for name, raw in _require_table(("models",), table.get("models", {}), reader).items():
        entry = _require_table(("models", name), raw, reader)
        if "model" in entry:
            _add_alias(name, entry["model"], aliases, reader, ("models", name, "model"))
        entries[name] = drop_rival_effort(_model_layer(name, entry, reader), notes)
    models = ModelTable(reader.file.path, aliases, entries)
    for name in aliases:
        if models.alias_chain(name)[-1] in aliases:
            reader.report_problem(("aliases", name), f"the alias '{printable_key(name)}' does not lead to a model")
    return models


def _hint(key: str, known: Sequence[str]) -> str:
    return did_you_mean(close_matches(key, known)) or f"; known keys: {', '.join(known)}"


def _require_table(at: tuple[str, ...], raw: object, reader: LayerReader) -> Mapping[str, Any]:
    if isinstance(raw, dict):
        return cast("dict[str, Any]", raw)
    reader.report_problem(at, f"'{printable_key('.'.join(at))}' must be a table")
    return {}


def _add_alias(name: str, target: object, aliases: dict[str, str], reader: LayerReader, at: tuple[str, ...]) -> None:
    if not isinstance(target, str) or not target:
        reader.report_problem(at, f"'{printable_key('.'.join(at))}' must be the name of a model")
    elif aliases.setdefault(name, target) != target:
        reader.report_problem(at, f"'{printable_key(name)}' is already an alias of '{printable_key(aliases[name])}'")


def _model_layer(name: str, entry: Mapping[str, Any], reader: LayerReader) -> Layer:
    layer: Layer = {}
    for key, raw in entry.items():
        at = ("models", name, key)
        match key:
            case "api":
                layer |= reader.read_table(at, key, raw)
            case "context_window":
                try:
                    layer["model_window"] = SetValue(check_value(_WINDOW, raw), reader.file.path)
                except BadInput as error:
                    reader.report_problem(at, error)
            case "model":
                pass
            case _:
                reader.report_unknown(at, _hint(key, _KEYS))
    return layer


class ModelChoice(NamedTuple):
    """The chosen provider and model as a layer, and the names of the model from the one that was given to its id."""

    layer: Layer
    names: tuple[str, ...]


def choose_model(layers: Sequence[Layer], models: ModelTable, notes: list[str]) -> ModelChoice:
    """The provider and model that the layers, weak to strong, choose.

    A layer that names another provider discards what weaker layers set for the former one, above all its key.
    """
    rows = merge_layers(layers)
    ids = {*PROVIDERS, *provider_ids(rows)}
    chosen: Layer = {}
    names: tuple[str, ...] = ()
    for layer in layers:
        own = _identity_layer(layer, notes)
        own_names = _expand_model(own, models, ids)
        before = _implied_provider(chosen)
        if before and _value(own, "provider") not in ("", before):
            chosen, names = {}, ()
        names = own_names or names
        chosen |= own
    return _fill_from_provider(chosen, names, rows, models)


def provider_ids(layer: Layer) -> tuple[str, ...]:
    """The providers that have their own tables."""
    return tuple(dict.fromkeys(name.split(".")[1] for name in layer if name.startswith("providers.")))


def _value(layer: Layer, name: str) -> str:
    return layer[name].value if name in layer else ""


def _identity_layer(layer: Layer, notes: list[str]) -> Layer:
    own = {name: layer[name] for name in IDENTITY_KEYS if name in layer}
    if _value(own, "model").startswith(_PRESET):
        notes.append(f"{own.pop('model').origin}: presets of {_PRESET[:-1]} are not supported; set a model")
    return own


def _expand_model(own: Layer, models: ModelTable, ids: Collection[str]) -> tuple[str, ...]:
    """Replace a layer's model by the one its name stands for, and split `provider:model`. Returns all of its names."""
    if not _value(own, "model"):
        return ()
    given, origin = own["model"]
    names = list(models.alias_chain(given))
    if len(names) > 1:
        origin = f"{origin}, where '{printable_key(names[0])}' is an alias of {models.path}"
    provider, colon, model = names[-1].partition(":")
    if colon and model and provider in ids:
        names.append(model)
        own.setdefault("provider", SetValue(provider, origin))
    own["model"] = SetValue(names[-1], origin)
    return tuple(names)


def _implied_provider(layer: Layer) -> str:
    """The provider, also if none is named. A service that is only known by its URL speaks OpenAI's protocol, but it is
    not OpenAI, and gets nothing that belongs to it.
    """
    if provider := _value(layer, "provider"):
        return provider
    return _UNNAMED if _value(layer, "base_url") else "openrouter" if _value(layer, "api_key") else ""


def _fill_from_provider(chosen: Layer, names: tuple[str, ...], rows: Layer, models: ModelTable) -> ModelChoice:
    """Add what the provider's own table says, where nothing stronger did."""
    provider = _implied_provider(chosen)
    for field in _PROVIDER_FIELDS:
        row = f"providers.{provider}.{field}"
        if _value(chosen, field) or row not in rows:
            continue
        chosen[field] = rows[row]
        if field == "model":
            names = _expand_model(chosen, models, (provider,))
    return ModelChoice(chosen, names)
