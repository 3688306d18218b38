"""Organizations by keyword, short name and cue."""
