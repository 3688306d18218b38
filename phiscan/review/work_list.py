"""Reading the review list: a page of it, one line, its counts and choices."""
