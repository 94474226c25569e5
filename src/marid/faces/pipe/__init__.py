"""JSON in, JSON lines out."""
