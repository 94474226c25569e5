"""Find and mask secrets: rules, the masker, redaction of known keys."""
