"""Logs: from bytes to the root cause."""
