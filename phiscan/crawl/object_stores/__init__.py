"""Object stores: Amazon S3, and what fsspec reaches."""
