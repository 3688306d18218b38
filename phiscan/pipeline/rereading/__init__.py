"""A reviewed file, read again: masked passages, reveals, pictures of pages, and other places of a value."""
