"""Git: revisions, clone URLs, diffs by file."""
