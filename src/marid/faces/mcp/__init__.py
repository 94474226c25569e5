"""The Model Context Protocol over stdio."""
