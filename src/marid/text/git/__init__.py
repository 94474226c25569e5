"""Names and output of git as text: revisions, clone URLs, diffs by file."""
