"""The guarded HTTP client of the web tools."""
