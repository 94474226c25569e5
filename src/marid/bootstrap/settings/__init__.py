"""Resolve the settings: read every layer, check it, put the layers together."""
