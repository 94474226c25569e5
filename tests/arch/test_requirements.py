"""Every promise of tests/requirements.toml is kept by tests that are there."""

import ast
import tomllib
from functools import cache
from pathlib import Path
from typing import cast

import pytest

_TESTS = Path(__file__).parents[1]


def promises() -> list[dict[str, object]]:
    return tomllib.loads((_TESTS / "requirements.toml").read_text(encoding="utf-8"))["promise"]


@cache
def names(file: str) -> frozenset[str]:
    tree = ast.parse((_TESTS / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("promise", promises(), ids=lambda promise: promise["says"])
def test_every_promise_names_tests_that_are_there(promise: dict[str, object]) -> None:
    assert set(promise) == {"says", "source", "tests"}
    tests = cast("list[str]", promise["tests"])
    assert tests
    for test in tests:
        file, _, name = test.partition("::")
        assert name in names(file), test


def test_no_promise_is_written_down_twice() -> None:
    said = [promise["says"] for promise in promises()]
    assert len(said) == len(set(said))
