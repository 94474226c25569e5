"""Beads issues: the `bd` program, or the JSONL file of the workspace."""
