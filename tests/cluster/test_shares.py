"""A cluster that reads a share that is not mounted."""

from pathlib import Path

import pytest

from tests.cluster.harness import cluster_of
from tests.cluster.test_cluster import homes
from tests.pipeline.harness import write_share
from tests.pipeline.rows import results_by_path
from tests.samba import PASSWORD
from tests.servers.process import Server


@pytest.mark.slow
def test_share_that_is_not_mounted_is_read_by_a_cluster(samba: Server, tmp_path: Path) -> None:
    write_share(samba.share, 40)
    alone, other = homes(tmp_path, samba.url)
    with cluster_of(other, tmp_path / "cluster") as cluster:
        cluster.worker()
        done = other.run("scan", samba.url, "--cluster", cluster.address)
    assert done.returncode == 1, done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    results = results_by_path(other.database)
    assert len(results) == 40
    assert all(row[0] for rows in results.values() for row in rows["access"])  # the owner
    assert results == results_by_path(alone.database)
