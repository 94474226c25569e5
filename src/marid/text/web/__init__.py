"""Web pages: URLs, charsets, compressed bodies, readable HTML, search results."""
