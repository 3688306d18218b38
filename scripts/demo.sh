#!/bin/sh
# The tour of phiscan on the sample share: scan, queue, decide from the known truth, report.
# It works in demo/, made anew each time, and leaves everything there for you to look at.
set -eu
cd "$(dirname "$0")/.."
export PHISCAN_HOME=demo
export PHISCAN_ALLOW_ROOT=1  # containers and CI run this as root; its workers give that up all the same
phiscan=.venv/bin/phiscan

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

rm -rf demo
mkdir -m 700 demo

say "1. Scan the sample share: what was crawled, read, referred, and what could not be read"
"$phiscan" scan sample_corpus --exit-zero

say "2. The top of the review queue, and why one letter is in it (values are masked; none is stored)"
"$phiscan" queue list --limit 8
echo
"$phiscan" queue show "Clinics/Cardiology/2024/referral-0312.docx" --limit 6

say "3. Review: the sample's known truth stands in for the privacy officer, for the queue and for 60 random files"
"$phiscan" queue draw --queued 20 --unreferred 60 --by sample-lead
"$phiscan" queue decide --from sample_truth/truth.jsonl --reviewer sample-truth --opened
"$phiscan" queue left

say "4. The report: TDP and FRP with exact intervals, and a bound on what was missed"
"$phiscan" report --out demo/report

say "Where to go on"
cat <<'TEXT'
  the report          demo/report/report.html
  the queue           PHISCAN_HOME=demo .venv/bin/phiscan queue list
  one file, and why   PHISCAN_HOME=demo .venv/bin/phiscan queue show 1
  your own share      .venv/bin/phiscan init && .venv/bin/phiscan scan /path/to/share
TEXT
