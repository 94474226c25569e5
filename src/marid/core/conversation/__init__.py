"""Values of conversations: entries of the transcript, metadata, errors."""
