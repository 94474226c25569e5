"""Views and references for every language that has a grammar. On top of the others in `syntax`."""
