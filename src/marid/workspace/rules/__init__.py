"""Which files the rules include: parse, match, layer by layer, explain."""
