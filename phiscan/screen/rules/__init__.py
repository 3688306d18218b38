"""Rules as data: definitions, proof, compilation, the scanner and the rule recognizer."""
