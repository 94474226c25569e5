import pytest

from marid.toolkit.json_schema import inline_references


def test_references_are_replaced_by_what_they_refer_to() -> None:
    schema = {
        "$defs": {"Kind": {"title": "Kind", "enum": ["a"], "type": "string"}},
        "title": "tool",
        "description": "of the model",
        "type": "object",
        "properties": {
            "title": {"title": "Title", "type": "string"},
            "kind": {"$ref": "#/$defs/Kind", "description": "which"},
            "kinds": {"items": {"$ref": "#/$defs/Kind"}, "type": "array"},
            "one": {"anyOf": [{"$ref": "#/$defs/Kind"}, {"type": "null"}], "default": {"title": "kept"}},
        },
    }
    assert inline_references(schema) == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "kind": {"enum": ["a"], "type": "string", "description": "which"},
            "kinds": {"items": {"enum": ["a"], "type": "string"}, "type": "array"},
            "one": {"anyOf": [{"enum": ["a"], "type": "string"}, {"type": "null"}], "default": {"title": "kept"}},
        },
    }


def test_a_tool_without_parameters_has_an_empty_object() -> None:
    assert inline_references({"type": "object"}) == {"type": "object", "properties": {}}


def test_a_type_that_holds_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="holds itself"):
        inline_references({"$defs": {"A": {"items": {"$ref": "#/$defs/A"}}}, "$ref": "#/$defs/A"})
