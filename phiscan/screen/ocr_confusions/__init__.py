"""Characters that optical recognition confuses, and the identifiers found when they are repaired."""
