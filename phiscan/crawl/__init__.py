"""List the files of local folders, SMB shares and buckets as ``SourceFile``, in a stable order."""

from phiscan.crawl.changes import is_same_file
from phiscan.crawl.ignore import IgnoreRules, load_ignore
from phiscan.crawl.share import Crawled
from phiscan.crawl.shares import check_roots, content_of, crawl, is_remote

__all__ = [
    "Crawled",
    "IgnoreRules",
    "check_roots",
    "content_of",
    "crawl",
    "is_remote",
    "is_same_file",
    "load_ignore",
]
