"""Who may do what: effects, verdicts, policies, approvals."""
