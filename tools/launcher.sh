#!/bin/sh
# dyn @VERSION@ in one file: this script, then a gzipped tar of the Deno runtime and dyn's modules.
# Unpacked once, under its own hash, into the user's cache; complete or absent, since it is renamed into place.
set -u
hash=@HASH@
fail() {
  echo "dyn: $1" >&2
  exit 1
}
case $0 in
*/*) self=$0 ;;
*) self=$(command -v -- "$0") || fail "Expected to find this file as $0 on PATH" ;;
esac
base=${DYN_CACHE_DIR:-${XDG_CACHE_HOME:+$XDG_CACHE_HOME/dyn}}
base=${base:-${HOME:+$HOME/.cache/dyn}}
[ -n "$base" ] || fail "Expected HOME or DYN_CACHE_DIR to be set, to know where to unpack"
home=$base/standalone/$hash
if [ ! -x "$home/bin/deno" ]; then
  mkdir -p "$base/standalone" || fail "Expected a folder that can be written but found $base; set DYN_CACHE_DIR"
  draft=$(mktemp -d "$base/standalone/unpacking.XXXXXX") || fail "Cannot write to $base; set DYN_CACHE_DIR"
  trap 'rm -rf "$draft"' EXIT
  trap 'exit 130' INT TERM HUP
  payload() { tail -c +@OFFSET@ "$self"; }
  if command -v sha256sum >/dev/null; then
    found=$(payload | sha256sum)
  else
    found=$(payload | shasum -a 256) || fail "Expected sha256sum or shasum on PATH"
  fi
  [ "${found%% *}" = "$hash" ] || fail "Expected this file to hold $hash but found ${found%% *}; fetch it again"
  payload | gzip -dc | tar -xf - -C "$draft" || fail "Cannot unpack into $base"
  # Another process may have been faster; then its copy is used and this one goes.
  [ -d "$home" ] || mv "$draft" "$home" || fail "Cannot unpack into $home"
  rm -rf "$draft"
  trap - EXIT INT TERM HUP
  [ -x "$home/bin/deno" ] || fail "Expected a runtime in $home but found none"
fi
# The command line takes these back, so that programs which a script starts see the user's own.
export DYN_STANDALONE="${DENO_DIR-}"
export DENO_DIR="$home/deno" DENO_NO_PACKAGE_JSON=1 DENO_NO_UPDATE_CHECK=1
exec "$home/bin/deno" run --quiet --allow-all --no-lock --config "$home/dyn/deno.json" "$home/dyn/cli.ts" "$@"
