"""The inventory: one module a family, or a few where one would be too long."""
