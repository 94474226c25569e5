"""Parse source files: bytes in, values out. The only package that loads grammars."""
