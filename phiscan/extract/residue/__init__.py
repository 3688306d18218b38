"""The account of a file: what looks like text in its bytes and is not in the text that its reader gave."""
