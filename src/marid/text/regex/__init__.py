"""Search lines by pattern: literals, prefilters, hits, excerpts."""
