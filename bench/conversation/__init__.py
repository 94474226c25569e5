"""The cost of keeping a conversation: against a bare write and sync, and with a million entries."""
