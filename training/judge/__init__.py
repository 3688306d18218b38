"""Train the encoder that judges passages, join it with P(PHI), and measure both on families left out."""
