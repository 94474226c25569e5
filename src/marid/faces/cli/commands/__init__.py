"""One module per command, found by the command table."""
