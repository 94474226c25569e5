"""The verbs every face may use."""
