#!/bin/sh
# Run every command of docs/explanation/papers.md, write plots and tables to build/papers/ and the tables of the page.
# SPAMBASE=file, ADULT=file and TEXTS=folder name the data to use; look-alikes are made where they are absent.
# EXPERIMENTS="mane boyd" runs these alone, of: i2b2 mane sokolova sokolova-texts boyd examples.
set -eu
cd "$(dirname "$0")/.."
run=.venv/bin/phiscan
out=build/papers
mkdir -p $out/mane $out/sokolova $out/boyd $out/falis $out/uzuner
for experiment in ${EXPERIMENTS:-i2b2 mane sokolova sokolova-texts boyd examples}; do
    case $experiment in
    i2b2) $run benchmark i2b2 --out $out/i2b2 >/dev/null ;;
    mane) $run benchmark false-negatives ${SPAMBASE:+--spambase "$SPAMBASE"} --out $out/mane >/dev/null ;;
    sokolova) $run benchmark screened-positives --out $out/sokolova >/dev/null ;;
    sokolova-texts)
        # The ten files of the page; every one of them must be there.
        [ -z "${TEXTS:-}" ] || $run benchmark screened-positives --out $out/sokolova-texts \
            --texts "$TEXTS/aci_bench_train_valid.jsonl" --texts "$TEXTS/ccda_hl7.jsonl" \
            --texts "$TEXTS/fhir_synthea_dev.jsonl" --texts "$TEXTS/hl7v2_reportstream.jsonl" \
            --texts "$TEXTS/medquad_dev.jsonl" --texts "$TEXTS/presidio_generated_large.jsonl" \
            --texts "$TEXTS/spamassassin_ham_dev.jsonl" --texts "$TEXTS/state_union_inaugural.jsonl" \
            --texts "$TEXTS/us_legislators_dev.jsonl" --texts "$TEXTS/wnut17_train.jsonl" >/dev/null
        ;;
    boyd)
        $run benchmark thresholdless ${ADULT:+--adult "$ADULT"} --out $out/boyd >/dev/null
        $run score simulate --examples 200 --examples 1000 --skew 0.1 --skew 0.05 --replicates 200 --bootstrap 50 \
            --plot $out/boyd/estimators.svg --json >$out/boyd/estimators.json
        $run score simulate --examples 1000 --skew 0.02 --skew 0.05 --skew 0.1 --skew 0.2 --skew 0.5 \
            --replicates 200 --bootstrap 50 --plot $out/boyd/skew.svg >$out/boyd/skew.md
        printf 'score,label\n1,1\n.8,1\n.7,0\n.6,1\n.5,0\n.3,0\n.2,1\n.1,0\n' >$out/boyd/eight.csv
        $run score ranking $out/boyd/eight.csv --plot $out/boyd/region.svg --curves $out/boyd/eight-curves.svg \
            >$out/boyd/eight.txt
        ;;
    examples)
        printf 'A,B,count\n1,1,40\n1,0,10\n0,1,20\n' >$out/mane/counts.csv
        $run estimate missed $out/mane/counts.csv --files 10000 --false-positives A=5 --false-positives B=8 \
            >$out/mane/tables-1-to-3.txt
        $run estimate screening --phi 71 --not-phi 4 --not-screened 48 --versus 75,3 --both 54,0 \
            >$out/sokolova/table-4.txt
        printf '%s\n' '{"id":"1","text":"Mr. Smith seen 10/29","spans":[[4,9,"PATIENT"],[15,20,"DATE"]]}' \
            >$out/uzuner/gold.jsonl
        printf '%s\n' '{"id":"1","text":"Mr. Smith seen 10/29","spans":[[0,9,"PATIENT"],[15,20,"DATE"]]}' \
            >$out/uzuner/system.jsonl
        $run score spans --gold $out/uzuner/gold.jsonl --system $out/uzuner/system.jsonl --format jsonl \
            >$out/uzuner/equations.txt
        printf 'child,parent\n401.1,401\n401.9,401\n402.00,402.0\n402.01,402.0\n402.0,402\n' >$out/falis/tree.csv
        printf 'document,label\nd,401.9\nd,402.01\n' >$out/falis/gold.csv
        printf 'document,label\nd,401.1\nd,402.00\nd,402.01\n' >$out/falis/system.csv
        $run score hierarchy --tree $out/falis/tree.csv --gold $out/falis/gold.csv --system $out/falis/system.csv \
            >$out/falis/figure-4.txt
        ;;
    *)
        echo "papers.sh: $experiment: expected i2b2, mane, sokolova, sokolova-texts, boyd or examples" >&2
        exit 2
        ;;
    esac
done
.venv/bin/python -m papers.page $out
echo "$out: tables in results.md, plots in *.svg, beside the papers' numbers"
