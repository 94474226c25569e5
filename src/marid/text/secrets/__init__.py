"""Secrets: rules, masking in files, redaction of known keys."""
