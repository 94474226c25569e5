"""What is defined in a file: bytes in, values out. The only package that loads grammars."""
