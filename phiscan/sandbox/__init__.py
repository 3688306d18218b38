"""What the operating system enforces on processes that read documents, and what they may ask others for."""
