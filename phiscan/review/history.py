"""What was done about a file and by whom, and how much was done in a day."""
