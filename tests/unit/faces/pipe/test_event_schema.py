import ast
from pathlib import Path

import marid.faces.pipe
from marid.core.model_io import Usage
from marid.faces.pipe.event_schema import EVENT_FIELDS, EVENT_MEANINGS

_SOURCE = Path(marid.faces.pipe.__file__).parent
# Fields that are given as a whole.
_WHOLE = {"usage": {*Usage._fields}, "fuel_status": {"prompt_preview"}}


def written() -> dict[str, set[str]]:
    """The events that the code writes, with the fields it gives them."""
    found: dict[str, set[str]] = {}
    for path in _SOURCE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "write_event":
                (name,) = node.args
                assert isinstance(name, ast.Constant)
                fields = {word.arg for word in node.keywords if word.arg}
                found.setdefault(str(name.value), set()).update(fields, _WHOLE.get(str(name.value), set()))
    return found


def test_the_table_holds_every_event_and_field_that_is_written() -> None:
    assert written() == {name: {*fields} for name, fields in EVENT_FIELDS.items()}


def test_every_event_is_explained() -> None:
    assert list(EVENT_MEANINGS) == list(EVENT_FIELDS)
