"""Archives, compressed files and disc images."""
