"""What the pages show, made from the store's values."""
