"""Object stores: Amazon S3, and those supported by fsspec."""
