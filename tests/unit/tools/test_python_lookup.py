from pathlib import Path

import pytest

from fakes.tool_caller import ToolCaller
from marid.toolkit.outcome import ToolOutput
from marid.toolkit.spec import ToolSpec
from marid.tools.python_lookup import TOOLS, py_get_definition, py_get_signature, py_get_var_declaration

CODE = '''\
LIMIT: int = 3


class Shop:
    open = True

    @property
    def name(self) -> str:
        """The name."""
        return "x"
'''


@pytest.fixture
def hands(tmp_path: Path) -> ToolCaller:
    (tmp_path / "a.py").write_bytes(CODE.encode())
    return ToolCaller(tmp_path)


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
def test_what_is_no_python_by_its_name_is_an_error(hands: ToolCaller, spec: ToolSpec) -> None:
    (hands.root / "a.txt").write_text("Shop = 1\n")
    failed = hands.failure(spec, path="a.txt", name="Shop")
    assert (failed.code, "'a.txt' is no Python file" in failed.message) == ("bad_input", True)


def test_a_definition_is_given_as_it_stands_with_its_lines(hands: ToolCaller) -> None:
    done = hands.call(py_get_definition, path="a.py", name="Shop.name")
    assert isinstance(done, ToolOutput)
    assert done.text == CODE[CODE.index("    @property") :]
    assert done.values == {"start_line": 7, "end_line": 10}


def test_a_signature_is_given_without_its_decorator(hands: ToolCaller) -> None:
    assert hands.text(py_get_signature, path="a.py", name="Shop.name") == "def name(self) -> str:"


def test_a_variable_of_a_module_or_class_is_given(hands: ToolCaller) -> None:
    assert hands.text(py_get_var_declaration, path="a.py", name="LIMIT") == "LIMIT: int = 3\n"
    assert hands.text(py_get_var_declaration, path="a.py", name="Shop.open") == "    open = True\n"


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
def test_errors_name_the_path_as_it_was_given(hands: ToolCaller, spec: ToolSpec) -> None:
    failed = hands.failure(spec, path="./a.py", name="Shop.nam")
    assert failed.code == "not_found"
    assert failed.message.startswith("'./a.py': 'Shop.nam' is not defined in the file")
