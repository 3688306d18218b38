"""Worker processes that parse untrusted files: limits, isolation, fork server, hand-over of files."""
