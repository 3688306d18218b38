"""A bucket of moto's S3 server on loopback."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from moto.server import ThreadedMotoServer

SECRET = "Zebra-canary-417"


@contextmanager
def running_store() -> Iterator[str]:
    """Start the server; its address."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def environment(endpoint: str) -> dict[str, str]:
    """Return what signs in, with little patience."""
    return {
        "PHISCAN_S3_ENDPOINT": endpoint,
        "PHISCAN_S3_KEY": "scanner",
        "PHISCAN_S3_SECRET": SECRET,
        "PHISCAN_SHARES_ATTEMPTS": "2",
        "PHISCAN_SHARES_RETRY_S": "0.01",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


@cache
def client_of(endpoint: str) -> Any:
    import boto3  # noqa: PLC0415 (slow to load)

    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="scanner",
        aws_secret_access_key=SECRET,
    )


@contextmanager
def made_bucket(endpoint: str) -> Iterator[Any]:
    """Make the bucket "research" and give its client; remove it and all that is in it."""
    client = client_of(endpoint)
    client.create_bucket(Bucket="research")
    yield client
    found = client.list_objects_v2(Bucket="research").get("Contents", [])
    while found:
        client.delete_objects(Bucket="research", Delete={"Objects": [{"Key": one["Key"]} for one in found]})
        found = client.list_objects_v2(Bucket="research").get("Contents", [])
    client.delete_bucket(Bucket="research")
