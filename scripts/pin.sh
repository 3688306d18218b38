#!/bin/sh
# Write constraints.txt anew: install everything that pyproject.toml names, at the newest versions, into an
# empty environment, and note what was installed. Run the tests afterwards.
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
pip="$folder/venv/bin/python -m pip --disable-pip-version-check"
$pip install -q "$@" pip hatchling editables
$pip install -q "$@" -e ".[dev,lists,train,compare]"
{
    echo "# The exact version of everything that is installed; made by scripts/pin.sh."
    $pip freeze --all --exclude-editable | sort -f
} >constraints.txt
