#!/bin/bash
# Prints the path of a `denort` (the runtime that `deno compile` puts into an executable) for Deno 2.6 on x86-64 Linux.
#
# `deno compile` downloads denort by itself. Where that host is not reachable, a wheel on PyPI helps: bids-validator-deno
# 2.4.1 is an executable made by `deno compile` of Deno 2.6.10. Cutting off what was appended behind its ELF section
# headers leaves denort 2.6.10, which `deno compile` of any Deno 2.6 accepts in DENORT_BIN (2.9 refuses it).
#
#   export DENORT_BIN="$(scripts/denort.sh)"
#   npx -y deno@2.6.8 task compile
set -euo pipefail
checksum=1b136202dc147212ad0b129de0c10eb5f17060917c9754c7921cd68f764ad2e2
cache="${XDG_CACHE_HOME:-$HOME/.cache}/denort-2.6.10"
if [ ! -x "$cache/denort" ]; then
  mkdir -p "$cache"
  work="$(mktemp -d)"
  trap 'rm -rf "$work"' EXIT
  python3 -m pip download --quiet --no-deps --only-binary :all: --platform manylinux_2_28_x86_64 \
    -d "$work" bids-validator-deno==2.4.1 >&2
  python3 - "$work" "$work/denort" <<'PY'
import glob, struct, sys, zipfile
wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + "/*.whl")[0])
largest = max(wheel.infolist(), key=lambda info: info.file_size).filename
elf = wheel.read(largest)
assert elf[:4] == b"\x7fELF", "not an executable"
offset, = struct.unpack("<Q", elf[40:48])
size, count = struct.unpack("<HH", elf[58:62])
end = offset + size * count
assert elf[end:end + 8] == b"d3n0l4nd", "not made by deno compile"
open(sys.argv[2], "wb").write(elf[:end])
PY
  echo "$checksum  $work/denort" | sha256sum --check --quiet >&2
  chmod +x "$work/denort"
  mv "$work/denort" "$cache/denort"
fi
echo "$cache/denort"
