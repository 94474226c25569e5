"""The path guard: open names beneath a root or not at all."""
