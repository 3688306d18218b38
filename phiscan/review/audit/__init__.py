"""The audit log: hash-chained entries, its pages and its checkpoints after a purge."""
