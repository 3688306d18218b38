"""Examine the files of a scan on many machines, with Dask distributed.

The scan's own process crawls and records as without a cluster; only the examination runs on the cluster,
batch by batch. Needs the extra ``cluster``.
"""

import os

# Dask sets its logging up when it is imported, here and in each process that it starts.
os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "error")

from phiscan.cluster.client import ClusterClient
from phiscan.cluster.joining import check_address, open_cluster

__all__ = ["ClusterClient", "check_address", "open_cluster"]
