"""Write files whole or not at all: atomic replacement, commits with a journal, recovery."""
