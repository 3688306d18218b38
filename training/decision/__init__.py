"""Training and measurement of P(PHI)."""
