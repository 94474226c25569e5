from marid.syntax.python.source_views import py_imports

CODE = b"""\
import os, os.path as p
from . import a
from ..b.c import (
    d as e,
    f,
)
class K:
    def m(self):
        if x:
            import json
from g import *
try:
    import h
except ImportError:
    h = None
"""


def test_every_import_is_listed_in_order_with_where_it_stands() -> None:
    assert [(each.line, each.text, each.scope) for each in py_imports(CODE)] == [
        (1, "import os, os.path as p", ""),
        (2, "from . import a", ""),
        (3, "from ..b.c import d as e, f", ""),
        (10, "import json", "K.m"),
        (11, "from g import *", ""),
        (13, "import h", ""),
    ]


def test_modules_keep_their_dots() -> None:
    found = py_imports(CODE)
    assert [module for each in found for module in each.modules] == ["os", "os.path", ".", "..b.c", "json", "g", "h"]
