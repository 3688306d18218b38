"""Code pages of texts without a declaration, detected by the words that their letters spell."""
