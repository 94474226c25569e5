"""Edit Python by structure, byte for byte."""
