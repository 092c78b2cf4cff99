#!/bin/sh
# A C++ compiler that works while it is tried, and after that fails in the way that the file `mode` beside it names.
# Each call leaves a line in `calls`. One that is `gated` says nothing at all until there is a file `open` beside it.
here=$(dirname "$0")
[ "$(cat "$here/mode" 2>/dev/null)" = gated ] && while [ ! -e "$here/open" ]; do sleep 0.02; done
case "$*" in
*--version* | *-dM* | */trial*) exec g++ "$@" ;;
esac
echo called >>"$here/calls"
for word; do
  [ "${before-}" = -o ] && target=$word
  before=$word
done
case $(cat "$here/mode") in
works | gated) exec g++ "$@" ;;
killed) kill -KILL $$ ;;
hangs) exec sleep 600 ;;
silent) exit 0 ;;
garbage) echo garbage >"$target" ;;
truncated) g++ "$@" && head -c 5000 "$target" >"$target.part" && mv "$target.part" "$target" ;;
unloadable) printf 'int f();\nint main() { return f(); }\n' | g++ -x c++ -c - -o "$target" ;;
space)
  echo "/usr/bin/ld: final link failed: No space left on device" >&2
  exit 1
  ;;
memory)
  echo "g++: fatal error: Killed signal terminated program cc1plus" >&2
  exit 1
  ;;
crashed)
  echo "internal compiler error: Segmentation fault" >&2
  exit 4
  ;;
rejects)
  echo "graph.cpp:1:1: error: nonsense" >&2
  exit 1
  ;;
esac
