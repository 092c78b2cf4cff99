#!/bin/sh
# @NAME@ in one file, by dyn @VERSION@: this script, then a gzipped tar of the Deno runtime and modules.
# Unpacked once, under its own hash, into the user's cache, or among the temporary files where that cannot be written.
# What is unpacked is used only if every file is there in its size and nobody else can write it; otherwise it is
# unpacked again. It is complete or absent, since it is renamed into place.
set -u
hash=@HASH@ listing="@LISTING@"
fail() {
  echo "@NAME@: $1" >&2
  exit 1
}
for tool in awk chmod cksum find gzip id ls mkdir mktemp mv rm sort tail tar; do
  command -v "$tool" >/dev/null || fail "Expected $tool on PATH but found none"
done
case $0 in
*/*) self=$0 ;;
*) self=$(command -v -- "$0") || fail "Expected to find this file as $0 on PATH" ;;
esac
user=$(id -u)

# Whether these belong to the user, who alone can write them.
own() {
  ls -lndL "$@" 2>/dev/null | awk -v user="$user" -v wanted=$# '
    $3 == user && substr($1, 6, 1) != "w" && substr($1, 9, 1) != "w" { found++ }
    END { exit found != wanted }'
}
# Every file with its size, and those that others can write marked: the builder's listing has no marks.
listed() {
  (cd "$1" && find @PARTS@ ! -type d -exec ls -ln {} +) 2>/dev/null | awk -v user="$user" '{
    open = $3 != user || substr($1, 6, 1) == "w" || substr($1, 9, 1) == "w"
    print $NF, $5, open ? "open" : ""
  }' | LC_ALL=C sort | cksum
}
sound() { own "$1" "${1%/*}" "${1%/*/*}" && [ "$(listed "$1")" = "$listing" ]; }

payload() { tail -c +@OFFSET@ "$self"; }
# Unpacks below a folder; false where it cannot be written, is full, or others can write it.
unpack() {
  at=$1/standalone/$hash
  (umask 077 && mkdir -p "$1/standalone") 2>/dev/null && own "$1" "$1/standalone" || return 1
  draft=$(mktemp -d "$1/standalone/unpacking.XXXXXX" 2>/dev/null) || return 1
  trap 'rm -rf "$draft" "$draft.old"' EXIT
  trap 'exit 130' INT TERM HUP
  # What is damaged goes; another process may have been faster, then its copy is used and this one goes.
  payload | gzip -dc | tar -xof - -C "$draft" && chmod -R go-w "$draft" &&
    { sound "$at" || [ ! -e "$at" ] || mv "$at" "$draft.old"; } && { [ -d "$at" ] || mv "$draft" "$at"; }
  rm -rf "$draft" "$draft.old"
  trap - EXIT INT TERM HUP
  sound "$at"
}

usual=${DYN_CACHE_DIR:-${XDG_CACHE_HOME:+$XDG_CACHE_HOME/dyn}}
usual=${usual:-${HOME:+$HOME/.cache/dyn}}
why="${usual:-an unset HOME} cannot be used"
# Places may have spaces in their names.
set -- "${usual:-/dev/null/dyn}" "${TMPDIR:-/tmp}/dyn-$user" "/tmp/dyn-$user" -- "$@"
home=
for base; do
  [ "$base" != -- ] || break
  if sound "$base/standalone/$hash"; then
    home=$base/standalone/$hash
    break
  fi
done
if [ -z "$home" ]; then
  if command -v sha256sum >/dev/null; then
    found=$(payload | sha256sum)
  else
    found=$(payload | shasum -a 256) || fail "Expected sha256sum or shasum on PATH but found none"
  fi
  [ "${found%% *}" = "$hash" ] || fail "Expected this file to hold $hash but found ${found%% *}; fetch it again"
  for base; do
    [ "$base" != -- ] || fail "Expected a folder of your own with room for 120 MB but found none among $1, $2, $3; set DYN_CACHE_DIR"
    if unpack "$base"; then
      home=$base/standalone/$hash
      break
    fi
  done
  [ "$base" = "$1" ] || echo "@NAME@: Unpacked into $base, since $why; set DYN_CACHE_DIR to choose a folder" >&2
fi
shift 4
# The command line takes these back, so that programs which a script starts see the user's own.
export DYN_STANDALONE="${DENO_DIR-}"
@CACHE@
export DENO_DIR="$home/deno" DENO_NO_PACKAGE_JSON=1 DENO_NO_UPDATE_CHECK=1
exec "$home/bin/deno" run --quiet --allow-all --no-lock --config "$home/dyn/deno.json" "$home/dyn/cli.ts" @RUN@"$@"
