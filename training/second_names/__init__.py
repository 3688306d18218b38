"""Train the second name tagger (spaCy), and write its model card."""
