"""Resolve Python names across files: call graphs, class hierarchies."""
