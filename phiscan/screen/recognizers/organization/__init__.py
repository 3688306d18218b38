"""Organizations by keyword, cue, column and letterhead."""
