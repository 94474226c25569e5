"""Edit text: anchors, diffs, substitutions, line edits."""
