"""Code pages of texts that do not say theirs, told by what their letters spell."""
