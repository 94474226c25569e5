"""The web: URLs, compressed bodies, pages."""
