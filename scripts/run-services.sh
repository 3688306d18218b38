#!/bin/sh
# Run the services of docker-compose.yml without Docker, on loopback: PostgreSQL, Dask scheduler, workers, web; then
# one scheduled scan through all of them. For tests and trials.
#
#   scripts/run-services.sh FOLDER SHARE [WORKERS]     FOLDER keeps data, logs and the addresses
#   KEEP=1 scripts/run-services.sh FOLDER SHARE        goes on until Ctrl-C instead of stopping after the scan
#
# Prints the scan's JSON. Every process that it started ends with it.
set -eu

if [ $# -lt 2 ]; then
    echo "usage: $0 FOLDER SHARE [WORKERS]" >&2
    exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
share=$(cd "$2" && pwd)
workers=${3:-2}
python=${PYTHON:-$here/../.venv/bin/python}
port=${WEB_PORT:-8470}
phiscan() { "$python" -m phiscan --config "$folder/phiscan.toml" "$@"; }
started=""

stop() {
    trap - EXIT INT TERM
    for pid in $started; do
        kill -TERM "$pid" 2>/dev/null || true
    done
    for pid in $started; do
        wait "$pid" 2>/dev/null || true
    done
    "$here/start-postgresql.sh" --stop "$folder/postgresql" >&2 || true
}

# $1: what is waited for; the rest: a command that succeeds once it is there.
wait_for() {
    what=$1
    shift
    n=0
    until "$@" >/dev/null 2>&1; do
        n=$((n + 1))
        if [ "$n" -gt 240 ]; then
            echo "$0: waited in vain for $what; see $folder/*.log" >&2
            exit 3
        fi
        sleep 0.5
    done
}

unset PHISCAN_HOME PHISCAN_DATABASE PHISCAN_CONFIG
cd "$folder"
url=$("$here/start-postgresql.sh" "$folder/postgresql")
trap stop EXIT
trap 'exit 130' INT TERM
if [ ! -e phiscan.toml ]; then
    (umask 077 && printf '%s\n' "$url" >database_url)
    cat >phiscan.toml <<TOML
home = "home"
database_file = "$folder/database_url"
TOML
    phiscan init >&2
fi

rm -f address
# Started without the function: in a shell's background it would have a process of its own, and no signal arrive.
"$python" -m phiscan --config phiscan.toml cluster scheduler --port 0 --address-file address 2>dask-scheduler.log &
started="$!"
wait_for "the Dask scheduler" test -s address
address=$(cat address)
"$python" -m phiscan --config phiscan.toml cluster worker "$address" --workers "$workers" 2>worker.log &
started="$started $!"
"$python" -m phiscan --config phiscan.toml serve --port "$port" 2>web.log &
started="$started $!"
wait_for "the workers" phiscan cluster check "$address" "$share"
wait_for "the web server" "$python" -c \
    "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/healthz', timeout=5).read()"

phiscan schedule remove trial >/dev/null 2>&1 || true
phiscan schedule add trial "$share" --cron '0 3 * * *' --options "--cluster $address" >&2
status=0
phiscan schedule run trial || status=$?
if [ -n "${KEEP:-}" ]; then
    echo "web: http://127.0.0.1:$port   cluster: $address   Ctrl-C stops everything" >&2
    while :; do sleep 3600; done
fi
exit "$status"
