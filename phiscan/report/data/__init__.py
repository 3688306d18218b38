"""The frozen values of a report, and the rows from which they are computed."""
