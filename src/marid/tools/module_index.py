"""Which module defines which tool, so that a call imports one of them. `builtin` imports them all."""

from collections.abc import Mapping
from types import MappingProxyType

# In the order in which they are offered; aliases follow the name of their tool.
_NAMES = MappingProxyType(
    {
        "project_context": "read_context",
        "files": "read_file write_file edit_file",
        "file_lines": "get_file_slice file_lines file_head file_tail set_file_slice file_edit",
        "directories": "list_directory dir_list get_tree",
        "file_search": "search_files glob_files",
        "text_search": "grep_files file_grep py_find_usages",
        "python_read": (
            "py_get_skeleton py_get_code_outline py_get_class_summary py_get_imports py_check_syntax "
            "py_get_hierarchy py_get_docstring py_get_definition py_get_signature py_get_var_declaration"
        ),
        "python_edit": (
            "py_update_definition py_set_signature py_set_var_declaration py_remove_def py_add_def "
            "py_move_def py_region_wrap"
        ),
        "cpp": (
            "ts_c_get_skeleton ts_cpp_get_skeleton ts_c_get_code_outline ts_cpp_get_code_outline "
            "ts_c_get_definition ts_cpp_get_definition ts_c_update_definition ts_cpp_update_definition "
            "ts_c_get_signature ts_cpp_get_signature"
        ),
        "code": "get_skeleton get_code_outline get_definition find_references",
        "slice_anchors": "create_anchor resolve_anchor",
        "analysis": "get_file_summary derive_code_path",
        "git_diff": "get_git_diff",
        "network": "web_search fetch_url",
        "runtime": "get_ui_performance",
        "beads": "bd_list bd_create bd_update bd_ready",
        "shell": "run_shell shell_exec run_powershell",
        "conversation_tools": (
            "update_todos update_goals update_reflection send_message read_conversation model_info call_agent call_user"
        ),
    }
)
TOOL_MODULES: Mapping[str, str] = MappingProxyType(
    {name: f"marid.tools.{module}" for module, names in _NAMES.items() for name in names.split()}
)
"""The module of each tool by its name or alias."""
