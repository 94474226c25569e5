"""Which files exist for us: rules, the walk, reading. The only package that opens project files."""
