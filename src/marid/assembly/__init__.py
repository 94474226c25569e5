"""Context: select, levels, budget, render."""
