"""The conversation: how a round goes, from the history alone."""
