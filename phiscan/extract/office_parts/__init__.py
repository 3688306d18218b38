"""Parts of office packages that no page shows: every value that is not known to be styling is text."""
