"""Share -> SourceFile: walk folders, SMB shares and buckets in a stable order; say what is to be read."""

from phiscan.crawl.changes import is_same_file
from phiscan.crawl.ignore import IgnoreRules, load_ignore
from phiscan.crawl.share import Crawled
from phiscan.crawl.shares import check_roots, crawl, is_remote

__all__ = ["Crawled", "IgnoreRules", "check_roots", "crawl", "is_remote", "is_same_file", "load_ignore"]
