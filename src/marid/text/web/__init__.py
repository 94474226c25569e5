"""Text that came over HTTP: URLs, charsets, compressed bodies, readable HTML, search results."""
