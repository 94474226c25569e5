"""Killable worker processes for parsers and hostile input."""
