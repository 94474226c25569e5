"""Settings from outside of files: variables and flags."""

from collections.abc import Iterable, Iterator, Mapping

from marid.bootstrap.layers import Findings, Layer, empty
from marid.core.checks import shown_key, typed
from marid.core.errors import BadInput
from marid.core.fields import ANY, BY_NAME, DISPLAY_BY_NAME, display_of, flattened, setting_of, suggestion
from marid.core.settings import LATER, Setting

FLAG = "flag"
_PREFIX = "MARID_"
_PROVIDERS = f"{_PREFIX}PROVIDERS_"


def variable(setting: Setting) -> str:
    """Our own name of a setting in the environment."""
    return f"{_PREFIX}{setting.name.upper().replace('.', '_')}"


def from_environment(environ: Mapping[str, str], ids: Iterable[str], findings: Findings) -> tuple[Layer, Layer]:
    """What variables set, and what they set of the display; an empty one sets nothing. `ids` are known providers."""
    settings, display = empty(), empty()
    rows = (*((one, settings) for one in _settable(BY_NAME)), *((one, display) for one in _settable(DISPLAY_BY_NAME)))
    for setting, layer in rows:
        # Our own name is stronger than the documents' names.
        names = [name for name in (variable(setting), *setting.aliases) if environ.get(name)]
        for name in reversed(names):
            _put(layer, setting, environ[name], name, findings)
    for name, setting in _of_providers(environ, ids):
        _put(settings, setting, environ[name], name, findings)
    return settings, display


def _settable(rows: Mapping[str, Setting]) -> Iterator[Setting]:
    return (one for one in rows.values() if one.kind != "table" and ANY not in one.name)


def _of_providers(environ: Mapping[str, str], ids: Iterable[str]) -> Iterator[tuple[str, Setting]]:
    spelled = {id.upper().replace("-", "_"): id for id in ids}
    for name in environ:
        if not name.startswith(_PROVIDERS) or not environ[name]:
            continue
        for field in ("base_url", "api_key", "model"):
            id, found, _ = name.removeprefix(_PROVIDERS).rpartition(f"_{field.upper()}")
            if found and id and name.endswith(f"_{field.upper()}"):
                setting = setting_of(f"providers.{spelled.get(id, id.lower())}.{field}")
                if setting:
                    yield name, setting


def from_flags(flags: Mapping[str, object], findings: Findings) -> tuple[Layer, Layer]:
    """What flags set, by key, and what they set of the display. Later ones are stronger; None sets nothing."""
    settings, display = empty(), empty()
    for name, raw in flattened(flags):
        shown = display_of(name)
        setting = shown or setting_of(name)
        if raw is None:
            continue
        if setting is None:
            _stranger(name, findings)
        elif not setting.everywhere:
            place = f"config.toml or {variable(setting)}"
            findings.problems.append(f"{FLAG}: '{name}' may only be set by {place}")
        else:
            _put(display if shown else settings, setting, raw, FLAG, findings)
    return settings, display


def _stranger(name: str, findings: Findings) -> None:
    if name in LATER:
        findings.notes.append(f"{FLAG}: '{name}' is not used yet")
    elif not findings.full:
        told = suggestion(name, (*BY_NAME, *DISPLAY_BY_NAME))
        findings.problems.append(f"{FLAG}: unknown key '{shown_key(name)}'{told}")


def _put(layer: Layer, setting: Setting, raw: object, origin: str, findings: Findings) -> None:
    try:
        layer.put(setting.name, typed(setting, raw), origin)
    except BadInput as error:
        findings.problems.append(f"{origin}: {error}")
