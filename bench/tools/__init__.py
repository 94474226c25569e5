"""The cost of tools against their floors: a plain read, `ast.parse`, tree-sitter's own parse, ripgrep.

All is measured in one warm process, tool and floor in turns, and judged by the ratio of the lower quartiles.
"""
