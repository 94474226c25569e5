"""What a terminal shows: markdown, status lines, progress. The lowest layer of `cli`."""
