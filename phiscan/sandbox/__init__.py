"""Worker processes that parse untrusted files: limits, isolation, the fork server and the hand-over of files."""
