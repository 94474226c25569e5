"""Values, errors, events and settings. Imports nothing of ours."""
