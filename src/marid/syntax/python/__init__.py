"""Read Python: source, scopes, outline, skeleton, docstrings, imports."""
