"""The area library."""
