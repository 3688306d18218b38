"""What a scan writes and reads back: files, examinations, findings, results taken over."""
