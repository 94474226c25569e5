"""Confine commands with bubblewrap: mounts, seccomp, self-test."""
