"""SMB shares that are not mounted."""
