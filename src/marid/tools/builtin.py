"""Every tool there is: a tool is in the program if and only if its module is named here."""

from marid.toolkit.spec import ToolSpec
from marid.tools import (
    analysis,
    beads,
    code,
    conversation_tools,
    cpp,
    directories,
    file_lines,
    file_search,
    files,
    git_diff,
    network,
    project_context,
    python_edit,
    python_lookup,
    python_read,
    runtime,
    shell,
    slice_anchors,
    text_search,
)

# What needs no conversation around it.
STANDALONE_TOOLS: tuple[ToolSpec, ...] = (
    *project_context.TOOLS,
    *files.TOOLS,
    *file_lines.TOOLS,
    *directories.TOOLS,
    *file_search.TOOLS,
    *text_search.TOOLS,
    *python_read.TOOLS,
    *python_lookup.TOOLS,
    *python_edit.TOOLS,
    *cpp.TOOLS,
    *code.TOOLS,
    *slice_anchors.TOOLS,
    *analysis.TOOLS,
    *git_diff.TOOLS,
    *network.TOOLS,
    *runtime.TOOLS,
    *beads.TOOLS,
    *shell.TOOLS,
)

TOOLS: tuple[ToolSpec, ...] = (*STANDALONE_TOOLS, *conversation_tools.TOOLS)
