#!/bin/sh
# Ask the database of known vulnerabilities about every package of requirements.lock; exit 3 where it cannot be reached.
set -u
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
pip="$folder/venv/bin/python -m pip --disable-pip-version-check"
if ! python3 -m venv "$folder/venv" || ! $pip install -q pip-audit >"$folder/log" 2>&1; then
    echo "audit: not checked: pip-audit cannot be installed here"
    exit 3
fi
"$folder/venv/bin/pip-audit" --require-hashes --disable-pip -r requirements.lock --format json >"$folder/found" 2>"$folder/log"
status=$?
"$folder/venv/bin/python" - "$folder/found" "$status" <<'CODE'
import json
import sys

try:
    found = json.load(open(sys.argv[1], encoding="utf-8"))["dependencies"]
except (OSError, ValueError, KeyError):
    print("audit: not checked: the database of vulnerabilities cannot be reached here")
    sys.exit(3)
asked = [one for one in found if "skip_reason" not in one]
if not asked:
    print("audit: not checked: the database of vulnerabilities knows none of the packages (no way to it)")
    sys.exit(3)
bad = [one for one in asked if one.get("vulns")]
for one in bad:
    print(f"audit: {one['name']} {one['version']}: {', '.join(v['id'] for v in one['vulns'])}")
print(f"audit: {len(asked)} packages asked about, {len(bad)} with a known vulnerability")
sys.exit(1 if bad else 0)
CODE
