"""What the tools cost over their floors: a plain read, `ast.parse`, tree-sitter's own parse, ripgrep.

Everything is measured in one warm process, ours and the floor in turns, and judged by the ratio of their lower
quartiles.
"""
