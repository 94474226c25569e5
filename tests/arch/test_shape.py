"""The shape of the source: sizes, names, imports, state. A rule without a gate drifts."""

import ast
import importlib
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from arch.source import BY_NAME, MODULES, ROOT, SOURCE, dotted_name, functions, parse, read, short_name

LONGEST_MODULE = 400
MOST_IN_A_FOLDER = 25
LONGEST_FUNCTION = 50
FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc", "manager", "base"}

# Each entry needs a reason, may only fall, and must go when it is no longer needed.
LONG_MODULES: dict[str, int] = {}
LONG_FUNCTIONS: dict[str, int] = {}


# Modules that no unit test of their package imports, and why.
UNTESTED: dict[str, str] = {
    "marid.core.round_events": "values; every test of the loop meets them",
    "marid.core.version": "a constant; tests/arch compares it with what is installed",
    "marid.tools.builtin": "a list; tests/flow/test_inventory.py compares it with the agreed one",
}


PACKAGES = {dotted_name(path) for path in MODULES if path.name == "__init__.py"}


@cache
def _imports(path: Path) -> frozenset[str]:
    """Every module of ours that a file imports, inside functions and by a string too."""
    found: set[str] = set()
    for node in ast.walk(parse(path)):
        match node:
            case ast.ImportFrom(module=str(module)):
                found |= {module, *(f"{module}.{alias.name}" for alias in node.names)}
            case ast.Import():
                found |= {alias.name for alias in node.names}
            case ast.Constant(value=str(text)) if text.startswith("marid."):
                found.add(text.partition(":")[0])
            case _:
                pass
    return frozenset(found & BY_NAME.keys())


def test_a_module_is_short_enough_to_read() -> None:
    lengths = {short_name(path): read(path).count("\n") for path in MODULES}
    assert {name: count for name, count in lengths.items() if count > LONG_MODULES.get(name, LONGEST_MODULE)} == {}


def test_a_function_fits_on_a_screen() -> None:
    long = {
        f"{short_name(path)}:{function.name}": length
        for path in MODULES
        for function in functions(path)
        if (length := (function.end_lineno or 0) - function.lineno + 1) > LONGEST_FUNCTION
    }
    assert {name: length for name, length in long.items() if length > LONG_FUNCTIONS.get(name, 0)} == {}


def test_a_module_is_named_for_what_it_holds() -> None:
    assert [short_name(path) for path in MODULES if {path.stem, path.parent.name} & FORBIDDEN_NAMES] == []


def test_a_module_says_in_its_first_line_what_it_is_for() -> None:
    assert [short_name(path) for path in MODULES if not ast.get_docstring(parse(path))] == []


def test_a_public_function_or_class_says_what_its_signature_cannot() -> None:
    bare = [
        f"{short_name(path)}:{node.name}"
        for path in MODULES
        for node in parse(path).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not ast.get_docstring(node)
    ]
    assert bare == []


def test_no_module_keeps_state() -> None:
    """Module level holds constants: no lists, sets or dicts bound to lower-case names, no `global`."""
    loose = [
        f"{short_name(path)}:{target.id}"
        for path in MODULES
        for node in parse(path).body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List | ast.Set | ast.Dict)
        for target in node.targets
        if isinstance(target, ast.Name) and not target.id.strip("_").isupper() and target.id != "__all__"
    ]
    assert loose == []
    assert [
        short_name(path) for path in MODULES if any(isinstance(node, ast.Global) for node in ast.walk(parse(path)))
    ] == []


def test_a_folder_is_small_enough_to_know() -> None:
    folders = Counter(path.parent for path in MODULES if path.name != "__init__.py")
    assert {short_name(folder): count for folder, count in folders.items() if count > MOST_IN_A_FOLDER} == {}


@pytest.mark.parametrize("package", [path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()])
def test_every_module_is_imported_by_a_unit_test_of_its_package(package: str) -> None:
    """Directly, or by a module of the package or a command that a test imports; coverage says how well it is tested."""
    if package == "ports":
        return  # no code; contract tests for what stands behind them
    own = {dotted_name(path) for path in MODULES if path.relative_to(SOURCE).parts[0] == package} - PACKAGES
    tests = (ROOT / "tests" / "unit" / package).rglob("*.py")
    through = own | {name for name in BY_NAME if name.startswith("marid.launch")}
    waiting = {name for path in tests for name in _imports(path)} & through
    reached: set[str] = set()
    while waiting:
        reached |= waiting
        waiting = ({name for module in waiting for name in _imports(BY_NAME[module])} & through) - reached
    assert sorted(own - reached - UNTESTED.keys()) == []


def test_the_lists_of_exceptions_hold_nothing_that_is_gone() -> None:
    names = {short_name(path) for path in MODULES}
    assert {*LONG_MODULES} <= names
    assert UNTESTED.keys() <= BY_NAME.keys()
    assert {entry.partition(":")[0] for entry in LONG_FUNCTIONS} <= names


def test_a_package_without_modules_does_not_exist() -> None:
    empty = [folder for folder in SOURCE.rglob("*") if folder.is_dir() and folder.name != "__pycache__"]
    assert [folder for folder in empty if not [x for x in folder.rglob("*.py") if x.name != "__init__.py"]] == []


def test_what_is_named_by_string_exists() -> None:
    """The commands, the formats, and the parts that the composition root makes when they are first used."""
    places = {
        node.value
        for path in MODULES
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if re.fullmatch(r"marid(\.\w+)+:\w+", node.value)
    }
    assert {"marid.adapters.git.local_git:LocalGit", "marid.faces.cli.commands.conversation:log"} <= places
    for place in places:
        module, _, attribute = place.partition(":")
        assert hasattr(importlib.import_module(module), attribute), place


def test_every_public_name_is_there() -> None:
    import marid
    from marid import context

    assert [name for name in marid.__all__ if not hasattr(marid, name)] == []
    assert [name for name in context.__all__ if not hasattr(context, name)] == []


def test_guards_are_not_asserts() -> None:
    """`python -O` removes an assert."""
    asserting = [
        short_name(path) for path in MODULES if any(isinstance(node, ast.Assert) for node in ast.walk(parse(path)))
    ]
    assert asserting == []


def test_conftest_files_stay_small() -> None:
    assert [p for p in (ROOT / "tests").rglob("conftest.py") if p.read_text("utf-8").count("\n") > 80] == []


def test_tests_use_fakes_and_no_mocks() -> None:
    mocking = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("*.py")
        if path != Path(__file__)
        and any(word in path.read_text("utf-8") for word in ("unittest.mock", "MagicMock", ".setattr("))
    ]
    assert mocking == []


def test_no_test_hangs_a_hook_into_the_process_of_all_the_others() -> None:
    """The defect: such a hook stays, and threads that later tests start fail by chance; a child may have one."""
    hooking = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Attribute) and node.attr == "addaudithook"
    ]
    assert hooking == []
