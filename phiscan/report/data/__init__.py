"""The frozen values of a report, and the rows that they are made from."""
