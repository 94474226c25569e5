"""Every tool there is: a tool is in the program if and only if its module is named here."""

from marid.toolkit.spec import ToolSpec
from marid.tools import (
    analysis,
    anchors,
    beads,
    code,
    cpp,
    files,
    git_diff,
    grep,
    lines,
    memory,
    network,
    python_edit,
    python_names,
    python_read,
    runtime,
    seek,
    shell,
    tree,
)

# What needs no conversation around it.
STANDALONE_TOOLS: tuple[ToolSpec, ...] = (
    *files.TOOLS,
    *lines.TOOLS,
    *tree.TOOLS,
    *seek.TOOLS,
    *grep.TOOLS,
    *python_read.TOOLS,
    *python_names.TOOLS,
    *python_edit.TOOLS,
    *cpp.TOOLS,
    *code.TOOLS,
    *anchors.TOOLS,
    *analysis.TOOLS,
    *git_diff.TOOLS,
    *network.TOOLS,
    *runtime.TOOLS,
    *beads.TOOLS,
    *shell.TOOLS,
)

TOOLS: tuple[ToolSpec, ...] = (*STANDALONE_TOOLS, *memory.TOOLS)
