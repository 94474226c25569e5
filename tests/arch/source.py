"""The source tree as the tests of its shape see it: each module parsed once."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "marid"
MODULES = sorted(SOURCE.rglob("*.py"))


def short_name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def dotted_name(path: Path) -> str:
    return ".".join(("marid", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")


BY_NAME = {dotted_name(path): path for path in MODULES}


@cache
def read(path: Path) -> str:
    return path.read_text("utf-8")


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(read(path))


@cache
def functions(path: Path) -> tuple[ast.FunctionDef | ast.AsyncFunctionDef, ...]:
    return tuple(node for node in ast.walk(parse(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
