"""Ports made real. The only package that starts processes or opens databases."""
