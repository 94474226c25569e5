"""Parse any language with tree-sitter: grammars, definitions, signatures. The lowest layer of `syntax`."""
