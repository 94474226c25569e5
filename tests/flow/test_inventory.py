"""The inventory is the agreed one: a tool that comes, goes or changes its parameters is seen in a diff."""

import json
import os
from pathlib import Path
from typing import Any, cast

import pytest

from marid.core.policy.policy import Effect
from marid.toolkit.params import PARSE_CONFIG, plain_fields, tool_params, tool_schema
from marid.toolkit.spec import ToolSpec
from marid.tools.builtin import TOOLS

GOLDEN = Path(__file__).parents[1] / "golden" / "tools.json"

# The 45 tools of the document, Chibi's file and coding tools, and the generic ones.
DOCUMENT = """
    read_file list_directory search_files get_file_slice set_file_slice edit_file get_tree
    py_get_skeleton py_get_code_outline py_get_definition py_update_definition py_get_signature py_set_signature
    py_get_class_summary py_get_var_declaration py_set_var_declaration py_find_usages py_get_imports py_check_syntax
    py_get_hierarchy py_get_docstring py_remove_def py_add_def py_move_def py_region_wrap
    ts_c_get_skeleton ts_cpp_get_skeleton ts_c_get_code_outline ts_cpp_get_code_outline ts_c_get_definition
    ts_cpp_get_definition ts_c_update_definition ts_cpp_update_definition ts_c_get_signature ts_cpp_get_signature
    get_file_summary get_git_diff derive_code_path web_search fetch_url get_ui_performance
    bd_list bd_create bd_update bd_ready
"""
CHIBI = "write_file glob_files grep_files file_head file_tail file_lines file_grep file_edit dir_list shell_exec"
GENERIC = "get_skeleton get_code_outline get_definition find_references create_anchor resolve_anchor"
SHELL = "run_shell run_powershell"
MEMORY = """
    update_todos update_goals update_reflection send_message read_conversation model_info call_agent call_user
"""
NAMES = {name for spec in TOOLS for name in spec.names}


def agreed() -> list[dict[str, object]]:
    return [
        {
            "name": name,
            "alias_of": spec.name if name != spec.name else None,
            "family": spec.family,
            "effect": spec.effect.value,
            "summary": spec.summary,
            "parameters": tool_schema(spec, name)["properties"],
            "required": tool_schema(spec, name).get("required", []),
        }
        for spec in TOOLS
        for name in spec.names
    ]


def test_the_tools_are_the_agreed_ones() -> None:
    tools = json.loads(json.dumps(agreed()))
    if os.environ.get("MARID_GOLDEN") == "1":
        GOLDEN.write_text(json.dumps(tools, indent=2) + "\n")
    assert tools == json.loads(GOLDEN.read_text()), "run `make golden` if the change is wanted"


@pytest.mark.parametrize(
    "names", [DOCUMENT, CHIBI, GENERIC, SHELL, MEMORY], ids=["document", "chibi", "generic", "shell", "memory"]
)
def test_all_tools_that_were_promised_are_there(names: str) -> None:
    assert set(names.split()) - NAMES == set()


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
def test_every_tool_says_what_it_does_and_what_its_parameters_are(spec: ToolSpec) -> None:
    assert 10 < len(spec.summary) <= 120
    assert spec.summary.endswith((".", ":"))
    for name, about in tool_schema(spec)["properties"].items():
        assert about.get("description") or name in {"path", "name"}, f"{spec.name}.{name} has no words"
    assert "$ref" not in json.dumps(tool_schema(spec))


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
def test_a_tool_whose_name_says_that_it_changes_something_has_that_effect(spec: ToolSpec) -> None:
    changing = ("set_", "update_", "edit_", "write_", "remove_", "add_", "move_", "wrap", "bd_create")
    if spec.family == "memory":
        assert spec.effect is Effect.META, "notes of a conversation are no files of the project"
    elif any(word in spec.name for word in changing) or spec.name == "file_edit":
        assert spec.effect is Effect.WRITE


# Whose hints pydantic has to read.
NOT_PLAIN = {"read_context", "resolve_anchor", "fetch_url"}


def _comparable(schema: object) -> object:
    """Without what a JSON schema needs; functions by name, since each schema has its own."""
    if isinstance(schema, dict):
        given = cast("dict[str, Any]", schema)
        kept = {key: value for key, value in given.items() if key not in ("metadata", "model_name", "computed_fields")}
        return {key: _comparable(value) for key, value in kept.items()}
    return schema.__qualname__ if callable(schema) and not isinstance(schema, type) else schema


@pytest.mark.parametrize("spec", TOOLS, ids=lambda spec: spec.name)
def test_arguments_are_parsed_by_the_schema_that_pydantic_makes(spec: ToolSpec) -> None:
    params = tool_params(spec)
    plain = plain_fields(params.fields)
    assert (plain is None) == (spec.name in NOT_PLAIN)
    if plain is not None:
        whole: Any = params.model.__pydantic_core_schema__
        assert _comparable(plain) == _comparable(whole["schema"])
        config = {key: value for key, value in whole["config"].items() if key != "title"}
        assert config == PARSE_CONFIG
