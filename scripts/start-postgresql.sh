#!/bin/sh
# Start a PostgreSQL server of its own for tests and trials, from Debian's package (scripts/install-optional.sh --test).
#
#   scripts/start-postgresql.sh FOLDER [PORT]     starts it and prints the URL of its superuser
#   scripts/start-postgresql.sh --stop FOLDER     stops it; FOLDER keeps its data
#
# It listens on a socket in FOLDER only; with PORT also on loopback, with the password in FOLDER/password.
# It does not wait for the disk (fsync=off): nothing for real data. PostgreSQL refuses to run as root: started by
# root, the server belongs to the user postgres. Its texts sort as in English, unlike SQLite's, so that nothing of
# ours may lean on the server's order.
set -eu

usage() {
    echo "usage: $0 FOLDER [PORT] | --stop FOLDER" >&2
    exit 2
}

stop=""
if [ "${1:-}" = "--stop" ]; then
    stop=yes
    shift
fi
folder="${1:-}"
port="${2:-}"
[ -n "$folder" ] || usage

bin=""
for candidate in /usr/lib/postgresql/*/bin; do
    if [ -x "$candidate/initdb" ]; then
        bin="$candidate" # the newest, the last in order
    fi
done
if [ -z "$bin" ]; then
    echo "$0: PostgreSQL is not installed: no /usr/lib/postgresql/*/bin (scripts/install-optional.sh --test)" >&2
    exit 3
fi

as_server() {
    if [ "$(id -u)" -eq 0 ]; then
        (cd / && setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@")
    else
        "$@"
    fi
}

if [ -n "$stop" ]; then
    as_server "$bin/pg_ctl" --pgdata="$folder/data" --mode=fast --silent stop
    exit 0
fi

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
chmod 0700 "$folder"
if [ "$(id -u)" -eq 0 ]; then
    chown postgres:postgres "$folder"
fi
if [ "$(printf %s "$folder/.s.PGSQL.5432" | wc -c)" -gt 100 ]; then
    echo "$0: $folder: too long for the name of a socket; choose a shorter one" >&2
    exit 2
fi
if [ ! -s "$folder/data/PG_VERSION" ]; then
    password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    (umask 077 && printf '%s\n' "$password" >"$folder/password")
    if [ "$(id -u)" -eq 0 ]; then
        chown postgres:postgres "$folder/password"
    fi
    as_server "$bin/initdb" --pgdata="$folder/data" --username=phiscan_owner --pwfile="$folder/password" \
        --auth-local=trust --auth-host=scram-sha-256 --encoding=UTF8 --locale=C.UTF-8 \
        --locale-provider=icu --icu-locale=en-US --no-sync >"$folder/initdb.log" 2>&1
fi
listen="-c listen_addresses="
if [ -n "$port" ]; then
    listen="-c listen_addresses=127.0.0.1 -p $port"
fi
as_server "$bin/pg_ctl" --pgdata="$folder/data" --log="$folder/server.log" --wait --silent --timeout=60 \
    --options="-k '$folder' $listen -c fsync=off -c full_page_writes=off -c max_connections=60" \
    start >/dev/null
echo "postgresql://phiscan_owner@/postgres?host=$folder${port:+&port=$port}"
