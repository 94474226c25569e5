"""Beads: the lines of an issue file, and which issues are ready."""
