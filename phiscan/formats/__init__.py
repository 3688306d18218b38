"""Field maps and syntax of machine formats (HL7 v2, X12, EDIFACT, SQL dumps), without recognizers."""
