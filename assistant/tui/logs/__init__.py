"""The area logs."""
