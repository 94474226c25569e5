"""models.toml: other names of models, and how each should be asked; and which model is meant in the end."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from marid.bootstrap.layers import Layer, empty, put_over, settled
from marid.bootstrap.layers_files import Reader, TomlFile
from marid.core.checks import checked, shown_key
from marid.core.errors import BadInput
from marid.core.fields import suggestion
from marid.core.settings import PROVIDERS, Setting

_TABLES = ("aliases", "models")
_LONGEST_CHAIN = 16
_KEYS = ("model", "context_window", "api")
# No limit of a person's own: what the model itself can take in.
_WINDOW = Setting("context_window", "most tokens of a request", kind="whole")
_OF_A_PROVIDER = ("base_url", "api_key", "model")
IDENTITY = ("provider", *_OF_A_PROVIDER)
_UNNAMED = "(base_url)"
# How a Chibi home names a kind of model and leaves the choice to its own library.
_PRESET = "ratatoskr:"


class Models(NamedTuple):
    """What models.toml says: which model a name stands for, and the settings of each."""

    path: str = ""
    aliases: Mapping[str, str] = MappingProxyType({})
    entries: Mapping[str, Layer] = MappingProxyType({})

    def chain(self, name: str) -> tuple[str, ...]:
        """The name itself, what it stands for, what that stands for, and so on."""
        names = [name]
        while len(names) < _LONGEST_CHAIN and (name := self.aliases.get(name, "")) and name not in names:
            names.append(name)
        return tuple(names)

    def layer(self, names: Iterable[str]) -> Layer:
        """The settings of a model under all of its names, of which the first are the stronger."""
        made = empty()
        for name in reversed(tuple(names)):
            made = put_over(made, self.entries.get(name, empty()))
        return made


def read_models(file: TomlFile, reader: Reader, notes: list[str]) -> Models:
    """What the file says; everything in it is checked, whichever model is asked."""
    aliases: dict[str, str] = {}
    entries: dict[str, Layer] = {}
    for key in file.table.keys() - set(_TABLES):
        reader.unknown(file, (key,), suggestion(key, _TABLES))
    for name, target in _table(file, ("aliases",), file.table.get("aliases", {}), reader).items():
        _alias(file, ("aliases", name), target, aliases, reader)
    for name, raw in _table(file, ("models",), file.table.get("models", {}), reader).items():
        entry = _table(file, ("models", name), raw, reader)
        if "model" in entry:
            _alias(file, ("models", name, "model"), entry["model"], aliases, reader, name)
        entries[name] = settled(_entry(file, name, entry, reader), notes)
    _check_ends(file, aliases, reader)
    return Models(file.path, aliases, entries)


def _table(file: TomlFile, at: tuple[str, ...], raw: object, reader: Reader) -> Mapping[str, Any]:
    if isinstance(raw, dict):
        return cast("dict[str, Any]", raw)
    reader.problem(file, at, f"'{shown_key('.'.join(at))}' must be a table")
    return {}


def _alias(  # noqa: PLR0913, PLR0917 - a key of a file and where it goes
    file: TomlFile, at: tuple[str, ...], target: object, aliases: dict[str, str], reader: Reader, name: str = ""
) -> None:
    name = name or at[-1]
    if not isinstance(target, str) or not target:
        reader.problem(file, at, f"'{shown_key('.'.join(at))}' must be the name of a model")
    elif aliases.setdefault(name, target) != target:
        reader.problem(file, at, f"'{shown_key(name)}' stands for '{shown_key(aliases[name])}' already")


def _check_ends(file: TomlFile, aliases: Mapping[str, str], reader: Reader) -> None:
    models = Models(file.path, aliases)
    for name in aliases:
        if models.chain(name)[-1] in aliases:
            reader.problem(file, ("aliases", name), f"'{shown_key(name)}' stands for no model in the end")


def _entry(file: TomlFile, name: str, entry: Mapping[str, Any], reader: Reader) -> Layer:
    made = empty()
    for key, raw in entry.items():
        at = ("models", name, key)
        match key:
            case "api":
                found = reader.table(file, at, key, raw)
                made.values.update(found.values)
                made.origins.update(found.origins)
            case "context_window":
                try:
                    made.put("model_window", checked(_WINDOW, raw), file.path)
                except BadInput as error:
                    reader.problem(file, at, error)
            case "model":
                pass
            case _:
                reader.unknown(file, at, suggestion(key, _KEYS))
    return made


class Chosen(NamedTuple):
    """Who is asked, as a layer of its own, and the names of the model from the one that was given to its id."""

    layer: Layer
    names: tuple[str, ...]


def chosen_model(layers: Sequence[Layer], models: Models, notes: list[str]) -> Chosen:
    """Which provider and model the layers, weak to strong, mean in the end.

    A layer that names another provider leaves nothing of what belonged to the one before: least of all its key.
    """
    rows = empty()
    for layer in layers:
        rows = put_over(rows, layer)
    ids = {*PROVIDERS, *provider_ids(rows.values)}
    made = empty()
    names: tuple[str, ...] = ()
    for layer in layers:
        own = _own(layer, notes)
        own_names = _expand(own, models, ids)
        provider = own.values.get("provider")
        before = _implied(made.values)
        if provider and before and provider != before:
            made, names = empty(), ()
        names = own_names or names
        made = put_over(made, own)
    return _filled(made, names, rows, models, _implied(made.values))


def provider_ids(values: Mapping[str, object]) -> tuple[str, ...]:
    """The providers that have tables of their own."""
    return tuple(dict.fromkeys(name.split(".")[1] for name in values if name.startswith("providers.")))


def _own(layer: Layer, notes: list[str]) -> Layer:
    own = empty()
    for name in IDENTITY:
        if name not in layer.values:
            continue
        if name == "model" and str(layer.values[name]).startswith(_PRESET):
            notes.append(f"{layer.origins[name]}: a preset of another program is no model here; say which one you mean")
            continue
        own.put(name, layer.values[name], layer.origins[name])
    return own


def _expand(own: Layer, models: Models, ids: Collection[str]) -> tuple[str, ...]:
    """The names of a layer's model, whose last one takes its place; `provider:model` is told apart."""
    if not own.values.get("model"):
        return ()
    names = list(models.chain(str(own.values["model"])))
    origin = own.origins["model"]
    if len(names) > 1:
        origin = f"{origin}, where '{shown_key(names[0])}' is an alias of {models.path}"
    provider, colon, model = names[-1].partition(":")
    if colon and model and provider in ids:
        names.append(model)
        if "provider" not in own.values:
            own.put("provider", provider, origin)
    own.put("model", names[-1], origin)
    return tuple(names)


def _implied(values: Mapping[str, object]) -> str:
    """The provider that is meant where none is named. A service that has nothing but an address speaks as OpenAI does,
    but is not OpenAI, and gets nothing that belongs to it.
    """
    if values.get("provider"):
        return str(values["provider"])
    return _UNNAMED if values.get("base_url") else "openrouter" if values.get("api_key") else ""


def _filled(made: Layer, names: tuple[str, ...], rows: Layer, models: Models, provider: str) -> Chosen:
    """What the provider's own table says, where nothing stronger did."""
    for field in _OF_A_PROVIDER:
        row = f"providers.{provider}.{field}"
        if made.values.get(field) or row not in rows.values:
            continue
        made.put(field, rows.values[row], rows.origins[row])
        if field == "model":
            names = _expand(made, models, (provider,))
    return Chosen(made, names)
