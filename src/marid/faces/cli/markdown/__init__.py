"""Markdown for a terminal, shown while it is still being written."""
