"""Which layer of settings wins, for each pair of neighbours, and what becomes of tables and lists."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fakes.program import Outcome, Program, marid

__all__ = ["marid"]

MODELS = '[models."openai/m"]\ncontext_window = {0}\n[models."openai/m".api]\nseed = {0}\n'


class Layers:
    """Puts values into layers, each the stronger the later it stands here, and reads what is in force."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self.home = Path(os.environ["MARID_HOME"])
        (self.home / "contexts" / "talk").mkdir(parents=True)
        self._flags: list[str] = []

    def config(self, text: str) -> None:
        (self.home / "config.toml").write_text(text)

    def environment(self, values: Mapping[str, str]) -> None:
        self._program.set(**values)

    def models(self, text: str) -> None:
        (self.home / "models.toml").write_text(text)

    def project(self, text: str) -> None:
        self._program.write({".marid.toml": text})

    def local(self, text: str) -> None:
        (self.home / "contexts" / "talk" / "local.toml").write_text(text)

    def flag(self, text: str) -> None:
        self._flags += ["-s", text]

    def shown(self) -> Outcome:
        return self._program(*self._flags, "-C", "talk", "config", "show", "--origin")

    def value(self, key: str) -> tuple[str, str]:
        """What is in force, and where it came from."""
        done = self.shown()
        assert done.code == 0, done.err
        (line,) = [line for line in done.lines if line.startswith(f"{key} = ")]
        value, _, origin = line.removeprefix(f"{key} = ").partition("  # ")
        return value, origin.replace(f"{self.home}/", "").replace(f"{self._program.folder}/", "")


@pytest.fixture
def layers(marid: Program) -> Layers:
    return Layers(marid)


PLAIN: list[tuple[str, Callable[[Layers], None]]] = [
    ("default", lambda at: None),
    ("config.toml", lambda at: at.config("fuel = 12\n")),
    ("MARID_FUEL", lambda at: at.environment({"MARID_FUEL": "11"})),
    (".marid.toml", lambda at: at.project("fuel = 10\n")),
    ("contexts/talk/local.toml", lambda at: at.local("fuel = 14\n")),
    ("flag", lambda at: at.flag("fuel=15")),
]
TABLE: list[tuple[str, Callable[[Layers], None]]] = [
    ("default", lambda at: None),
    ("config.toml", lambda at: at.config("[api]\nseed = 1\n")),
    ("MARID_API_SEED", lambda at: at.environment({"MARID_API_SEED": "2", "MARID_MODEL": "openai/m"})),
    ("models.toml", lambda at: at.models(MODELS.format(3))),
    ("contexts/talk/local.toml", lambda at: at.local("[api]\nseed = 4\n")),
    ("flag", lambda at: at.flag("api.seed=5")),
]


@pytest.mark.parametrize("place", range(1, len(PLAIN)))
def test_of_two_neighbours_the_stronger_layer_wins_for_a_plain_key(layers: Layers, place: int) -> None:
    for origin, put in PLAIN[place - 1 : place + 1]:
        put(layers)
        assert layers.value("fuel")[1] == origin


@pytest.mark.parametrize("place", range(1, len(TABLE)))
def test_of_two_neighbours_the_stronger_layer_wins_for_a_key_of_a_table(layers: Layers, place: int) -> None:
    layers.environment({"MARID_MODEL": "openai/m"})
    for origin, put in TABLE[place - 1 : place + 1]:
        put(layers)
        assert layers.value("api.seed")[1] == origin


def test_a_project_lowers_a_persons_limit_and_the_models_own_window_is_none(layers: Layers) -> None:
    layers.config('model = "openai/m"\n')
    layers.models(MODELS.format(7000))
    assert layers.value("context_window_limit") == ("0", "default")
    layers.config('model = "openai/m"\ncontext_window_limit = 9000\n')
    layers.project("context_window_limit = 8000\n")
    assert layers.value("context_window_limit") == ("8000", ".marid.toml")
    layers.project("context_window_limit = 10000\n")
    assert layers.value("context_window_limit") == ("9000", "config.toml")


def test_keys_of_a_table_come_from_different_layers(layers: Layers) -> None:
    layers.config("[api]\nseed = 1\ntop_p = 0.5\ntemperature = 0.5\n")
    layers.environment({"MARID_API_TOP_P": "0.25"})
    layers.local("[api]\ntemperature = 1\n")
    assert [layers.value(f"api.{key}") for key in ("seed", "top_p", "temperature")] == [
        ("1", "config.toml"),
        ("0.25", "MARID_API_TOP_P"),
        ("1", "contexts/talk/local.toml"),
    ]


EFFORT, BUDGET = "api.reasoning.effort", "api.reasoning.max_tokens"
REASONING: list[Callable[[Layers, str, str], None]] = [
    lambda at, key, value: at.config(f'model = "openai/m"\n{key} = {value}\n'),
    lambda at, key, value: at.environment({f"MARID_{key.upper().replace('.', '_')}": value.strip('"')}),
    lambda at, key, value: at.models(f'[models."openai/m"]\n{key} = {value}\n'),
    lambda at, key, value: at.local(f"{key} = {value}\n"),
    lambda at, key, value: at.flag(f"{key}={value.strip(chr(34))}"),
]


@pytest.mark.parametrize("place", range(1, len(REASONING)))
@pytest.mark.parametrize("swapped", [False, True])
def test_a_stronger_layer_that_sets_effort_or_tokens_clears_the_other(
    layers: Layers, place: int, *, swapped: bool
) -> None:
    first, second = ((EFFORT, '"high"'), (BUDGET, "2000"))[:: -1 if swapped else 1]
    layers.config('model = "openai/m"\n')
    REASONING[place - 1](layers, *first)
    assert layers.value(first[0])[0] == first[1]
    REASONING[place](layers, *second)
    assert (layers.value(first[0])[0], layers.value(second[0])[0]) == ("(unset)", second[1])


def test_included_tools_are_replaced_and_excluded_ones_are_added_in_every_layer(layers: Layers) -> None:
    layers.config('[tools]\ninclude = ["a"]\nexclude = ["b"]\nexclude_categories = ["c"]\n')
    layers.environment({"MARID_TOOLS_EXCLUDE": "d,b"})
    layers.project('[tools]\nexclude = ["e"]\n')
    layers.local('[tools]\ninclude = ["f"]\nexclude = ["g"]\nexclude_categories = ["h"]\n')
    layers.flag("tools.exclude=i")
    assert layers.value("tools.include") == ('["f"]', "contexts/talk/local.toml")
    places = "config.toml, MARID_TOOLS_EXCLUDE, .marid.toml, contexts/talk/local.toml, flag"
    assert layers.value("tools.exclude") == ('["b", "d", "e", "g", "i"]', places)
    assert layers.value("tools.exclude_categories")[0] == '["c", "h"]'


def test_all_problems_of_all_files_and_variables_are_told_together_with_line_and_suggestion(layers: Layers) -> None:
    layers.config('fuel = "much"\nmodle = "x"\n\n[api]\ntemprature = 1\n')
    layers.environment({"MARID_NO_TOOL_CALLS": "perhaps"})
    layers.models("[models.m]\ncontext_windw = 3\n")
    layers.project('username = "x"\n')
    done = layers.shown()
    assert (done.code, done.out) == (2, b"")
    for words in (
        "config.toml:1: 'fuel' must be a whole number",
        "config.toml:2: unknown key 'modle'; did you mean 'model'?",
        "config.toml:5: unknown key 'api.temprature'; did you mean 'api.temperature'?",
        "MARID_NO_TOOL_CALLS: 'no_tool_calls' must be true or false, not 'perhaps'",
        "models.toml:2: unknown key 'models.m.context_windw'; did you mean 'context_window'?",
        ".marid.toml:1: 'username' may not be set by a project",
    ):
        assert words in done.err
