"""The classify room."""
