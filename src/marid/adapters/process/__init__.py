"""Start programs, bound their output, end all of their children."""
