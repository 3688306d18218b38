"""What builds weights and dictionaries: outside the wheel."""
