"""Which marid this is."""

# A literal: reading it from the installed metadata costs five bare interpreters.
__version__ = "0.1.0"
