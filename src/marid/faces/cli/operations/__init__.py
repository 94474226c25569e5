"""What flags and commands do, and what they print."""
