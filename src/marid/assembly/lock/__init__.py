"""The lock file of a pack: record it, read it, compare it."""
