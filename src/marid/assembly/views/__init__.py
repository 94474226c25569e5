"""What may be shown instead of contents: the list of paths, the tree, statistics."""
