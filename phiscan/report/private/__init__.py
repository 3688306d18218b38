"""The report with differential privacy, and the ledger of spent budget."""
