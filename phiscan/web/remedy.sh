#!/bin/sh
@HEAD@
set -u
LC_ALL=C; export LC_ALL
apply=no; [ "${1-}" = --apply ] && apply=yes
done_=0; left=0
sum() {
  if command -v sha256sum >/dev/null; then sha256sum < "$1"; else shasum -a 256 < "$1"; fi | cut -c1-64
}
skip() { left=$((left + 1)); printf '%s: left: %s\n' "$1" "$2"; }
# number, SHA-256, 1 if the path ends in a full stop to be removed, path, the same of the name
act() {
  path=$4; [ "$3" = 1 ] && path=${path%.}
  base=$6; [ "$5" = 1 ] && base=${base%.}
  if [ -L "$path" ] || [ ! -f "$path" ]; then skip "$1" 'no such file'; return; fi
  if [ "$(sum "$path")" != "$2" ]; then skip "$1" 'its content has changed'; return; fi
  if [ "$action" = move ]; then
    target=$to/$1-$base
    if [ ! -d "$to" ] || [ -e "$target" ] || [ -L "$target" ]; then
      skip "$1" 'no folder to move to, or the name is taken'; return
    fi
  fi
  if [ "$apply" = yes ]; then
    if [ "$action" = move ]; then mv -- "$path" "$target"; else chmod go-rwx -- "$path"; fi ||
      { skip "$1" failed; return; }
  fi
  done_=$((done_ + 1)); printf '%s: %s\n' "$1" "$action"
}
@FILES@
if [ "$apply" = yes ]; then printf 'done: %s, left: %s\n' "$done_" "$left"
else printf 'dry run: %s would be done, %s left; --apply does it\n' "$done_" "$left"; fi
[ "$left" = 0 ]
