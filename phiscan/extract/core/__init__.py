"""What all readers share: content and its locators, file types, character sets, the registry of readers."""
