"""Edits of text as values: anchors, diffs, substitutions, line edits. Below `text`; pure functions."""
