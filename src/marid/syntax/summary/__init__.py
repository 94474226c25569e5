"""Summarize one file of any kind."""
