"""List the files of local folders, SMB shares and buckets as ``SourceFile``, in a stable order."""

from phiscan.crawl.ignore import IgnoreRules, load_ignore
from phiscan.crawl.location import is_url
from phiscan.crawl.share import Crawled, is_same_file
from phiscan.crawl.shares import check_roots, content_of, crawl

__all__ = [
    "Crawled",
    "IgnoreRules",
    "check_roots",
    "content_of",
    "crawl",
    "is_same_file",
    "is_url",
    "load_ignore",
]
