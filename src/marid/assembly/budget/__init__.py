"""Fit files into a token budget: rank them, choose levels."""
