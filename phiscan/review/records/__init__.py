"""The records of scans: files, examinations, findings, reused results."""
