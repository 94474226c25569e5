"""Project files: rules, walk, guard, search and writes. The only package that opens them."""
