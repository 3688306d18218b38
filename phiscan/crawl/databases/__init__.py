"""Tables of database servers as files."""
