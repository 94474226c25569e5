"""Protocols for the outside world. What is behind them is chosen in bootstrap."""
