"""The area model."""
