"""Search lines by a pattern: literals, prefilters, hits, excerpts."""
