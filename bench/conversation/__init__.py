"""What keeping a conversation costs: beside a bare write and sync, and with a million entries."""
