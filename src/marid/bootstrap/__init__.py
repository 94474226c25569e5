"""Settings and wiring. The only package that names an adapter or reads the environment."""
