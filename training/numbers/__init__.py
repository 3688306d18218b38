"""Train the classifier of numbers, and write its model card."""
