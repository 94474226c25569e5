"""Every tool there is: a tool is in the program if and only if its module is named here."""

from marid.toolkit.spec import ToolSpec
from marid.tools import (
    analysis,
    anchors,
    beads,
    code,
    cpp,
    files,
    lines,
    network,
    python_edit,
    python_read,
    runtime,
    seek,
    shell,
)

TOOLS: tuple[ToolSpec, ...] = (
    *files.TOOLS,
    *lines.TOOLS,
    *seek.TOOLS,
    *python_read.TOOLS,
    *python_edit.TOOLS,
    *cpp.TOOLS,
    *code.TOOLS,
    *anchors.TOOLS,
    *analysis.TOOLS,
    *network.TOOLS,
    *runtime.TOOLS,
    *beads.TOOLS,
    *shell.TOOLS,
)
