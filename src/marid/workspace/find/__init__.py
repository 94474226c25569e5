"""Search a guarded tree: by path pattern, by text."""
