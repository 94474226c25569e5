"""The command table: the only place that knows several faces."""
