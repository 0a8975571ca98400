"""The area ask."""
