"""Conversations as files below a home, in the documents' layout; the transcript is the truth, all else is derived."""
