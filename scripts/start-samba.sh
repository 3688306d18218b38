#!/bin/sh
# Start a Samba server of its own for tests: start-samba.sh FOLDER PORT [audit], the password of its users on
# standard input.
# Everything it writes lies in FOLDER. It listens on loopback only, in the foreground, until it is killed
# with its process group. Prints the user that may sign in, then "ready".
#   //127.0.0.1:PORT/share      FOLDER/share
#   //127.0.0.1:PORT/namespace  FOLDER/namespace, a DFS root: a link in it is a symbolic link to msdfs:SERVER\SHARE
# With "audit", of root alone, a user bin may sign in too, and what both do in FOLDER/share is logged:
#   //127.0.0.1:PORT/audited    into FOLDER/samba/log
#   //127.0.0.1:PORT/logged     by syslog
set -eu

if [ $# -lt 2 ]; then
    echo "usage: $0 FOLDER PORT [audit]" >&2
    exit 2
fi
PATH=$PATH:/usr/sbin # where smbd lies, but not every user looks
folder=$(realpath "$1")
port=$2
mkdir -p "$folder/share" "$folder/namespace"
for part in state cache lock pid private ncalrpc; do
    mkdir -p "$folder/samba/$part"
done
chmod 700 "$folder/samba" "$folder/samba/private"

# A session needs a user of the system; root reads everything, so root's server takes one that does not.
user=$(id -un)
if [ "$(id -u)" -eq 0 ]; then
    user=daemon
fi

cat >"$folder/samba/smb.conf" <<EOF
[global]
    server role = standalone server
    workgroup = PHISCAN
    netbios name = PHISCANTEST
    interfaces = 127.0.0.1
    bind interfaces only = yes
    smb ports = $port
    disable netbios = yes
    server min protocol = SMB2_10
    map to guest = never
    host msdfs = yes
    load printers = no
    disable spoolss = yes
    unix extensions = no
    state directory = $folder/samba/state
    cache directory = $folder/samba/cache
    lock directory = $folder/samba/lock
    pid directory = $folder/samba/pid
    private dir = $folder/samba/private
    ncalrpc dir = $folder/samba/ncalrpc
    passdb backend = tdbsam:$folder/samba/private/passdb.tdb
    log file = $folder/samba/log
    log level = 1
[share]
    path = $folder/share
    read only = no
[namespace]
    path = $folder/namespace
    read only = yes
    msdfs root = yes
EOF

users=$user
if [ "${3:-}" = audit ]; then
    users="$user bin"
    cat >>"$folder/samba/smb.conf" <<EOF
[audited]
    path = $folder/share
    read only = no
    vfs objects = full_audit
    full_audit:prefix = %u|%I|%S
    full_audit:success = all
    full_audit:failure = all
    full_audit:syslog = false
[logged]
    copy = audited
    full_audit:syslog = true
EOF
fi

read -r password
for one in $users; do
    printf '%s\n%s\n' "$password" "$password" |
        pdbedit --configfile="$folder/samba/smb.conf" -a -t -u "$one" >>"$folder/samba/pdbedit.log" 2>&1
done

echo "$user"
echo "ready"
exec smbd --foreground --no-process-group --configfile="$folder/samba/smb.conf" </dev/null >"$folder/samba/out" 2>&1
