import ast
from pathlib import Path

from bench.tools.sources import LINES, chain, long_cpp, long_python, stdlib


def test_the_long_python_file_parses_and_is_long() -> None:
    text = long_python()
    ast.parse(text)
    assert LINES * 0.9 < text.count("\n") <= LINES + 1


def test_the_long_cpp_file_is_long() -> None:
    assert LINES * 0.98 < long_cpp().count("\n") < LINES * 1.05


def test_the_standard_library_has_files_in_a_stable_order() -> None:
    assert len(stdlib()) > 500
    assert stdlib() == sorted(stdlib())


def test_the_chain_runs(tmp_path: Path) -> None:
    chain(tmp_path / "chain", 3)
    names = sorted(file.name for file in (tmp_path / "chain").iterdir())
    assert names == ["__init__.py", "step0.py", "step1.py", "step2.py"]
    for file in (tmp_path / "chain").iterdir():
        ast.parse(file.read_text())
