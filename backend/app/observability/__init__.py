"""What an operator sees: logs, metrics, the audit trail."""
