"""Side-by-side benchmarks: `python -m bench.context` measures the context assembler against what a user knows."""
