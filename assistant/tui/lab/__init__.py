"""The area lab."""
