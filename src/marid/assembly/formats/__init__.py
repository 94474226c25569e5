"""How files are written: text, markdown, XML, JSON."""
