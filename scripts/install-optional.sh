#!/bin/sh
# Install the optional readers on Debian or Ubuntu: OCR, Outlook stores, RAR,
# Access databases, WordPerfect and Works documents.
# phiscan works without them and says what it could not read; `phiscan doctor` names what is missing.
# With --test also what the tests use: a browser, servers that they start themselves on loopback, and what
# checks docker-compose.yml and Dockerfile (the two linters come from npm: Debian has none, and they need Node 20).
# With --measure also the independent readers that benchmarks/formats_measured.py compares with.
set -eu

packages="tesseract-ocr tesseract-ocr-fra tesseract-ocr-osd pst-utils libarchive-tools"
packages="$packages mdbtools libwpd-tools libwps-tools"
linters=""
case "${1:-}" in
    "") ;;
    --test)
        packages="$packages chromium postgresql samba samba-vfs-modules nginx-light docker-compose"
        packages="$packages openssh-server apache2-bin dovecot-imapd mariadb-server slapd ldap-utils rclone"
        linters="dclint@3.1.0 dockerfile-utils@0.16.3"
        ;;
    --measure)
        packages="$packages poppler-utils libreoffice-writer-nogui libreoffice-calc-nogui libreoffice-impress-nogui"
        ;;
    *)
        echo "usage: $0 [--test|--measure]" >&2
        exit 2
        ;;
esac

sudo=""
if [ "$(id -u)" -ne 0 ]; then
    sudo="sudo"
fi

$sudo apt-get update -qq
# shellcheck disable=SC2086 # the list is words on purpose
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages
if [ -n "$linters" ]; then
    # shellcheck disable=SC2086 # the list is words on purpose
    $sudo npm install --global --ignore-scripts --no-audit --no-fund --loglevel=error $linters
fi
