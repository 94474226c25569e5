"""Lines of a Beads issue file and the order in which issues are ready."""
