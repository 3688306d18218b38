#!/bin/sh
# Run every experiment of docs/explanation/papers.md and write plots and tables to papers/.
# SPAMBASE=file, ADULT=file and TEXTS=file.jsonl name the data to use; look-alikes are made where they are absent.
set -eu
cd "$(dirname "$0")/.."
run=.venv/bin/phiscan
mkdir -p papers
$run benchmark i2b2 --out papers/i2b2 >/dev/null
$run benchmark false-negatives ${SPAMBASE:+--spambase "$SPAMBASE"} --out papers/mane >/dev/null
$run benchmark screened-positives ${TEXTS:+--texts "$TEXTS"} --out papers/sokolova >/dev/null
$run benchmark thresholdless ${ADULT:+--adult "$ADULT"} --out papers/boyd >/dev/null
$run score simulate --examples 200 --examples 1000 --replicates 200 --bootstrap 50 --plot papers/boyd/estimators.svg \
    >papers/boyd/estimators.md
$run estimate screening --phi 71 --not-phi 4 --not-screened 48 --versus 75,3 --both 54,0 >papers/sokolova/table-4.txt
printf 'child,parent\n401.1,401\n401.9,401\n402.00,402.0\n402.01,402.0\n402.0,402\n' >papers/tree.csv
printf 'document,label\nd,401.9\nd,402.01\n' >papers/gold.csv
printf 'document,label\nd,401.1\nd,402.00\nd,402.01\n' >papers/system.csv
$run score hierarchy --tree papers/tree.csv --gold papers/gold.csv --system papers/system.csv >papers/cophe-figure-4.txt
echo "papers/: tables in results.md, plots in *.svg, beside the papers' numbers"
