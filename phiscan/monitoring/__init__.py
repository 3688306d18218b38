"""Being watched: metrics, logs, SIEM events and notices. Paths only where a SIEM asks."""
