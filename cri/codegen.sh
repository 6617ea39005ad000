#!/usr/bin/env bash
# Generates cri/generated/ from cri/proto/: codegen.sh [OUT]   (default OUT: cri/generated)
# Needs only `npm ci`; no network, no install scripts: buf's binary is taken from its platform package and
# ts-proto runs on the Node of the node-linux-* package (or on the one in PATH where that is missing).
set -euo pipefail
cri=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$cri")
modules=$root/node_modules
out=$(realpath -m "${1:-$cri/generated}")

case $(uname -m) in
  x86_64) buf_arch=x64 node_arch=x64 ;;
  aarch64 | arm64) buf_arch=aarch64 node_arch=arm64 ;;
  *) echo "codegen.sh: no buf for $(uname -m); accepted: x86_64, aarch64" >&2; exit 1 ;;
esac
buf=$modules/@bufbuild/buf-linux-$buf_arch/bin/buf
node=$modules/node-linux-$node_arch/bin/node
plugin=$modules/ts-proto/protoc-gen-ts_proto
[ -x "$buf" ] || { echo "codegen.sh: $buf is missing; run 'npm ci' (with optional and dev dependencies)" >&2; exit 1; }
[ -f "$plugin" ] || { echo "codegen.sh: $plugin is missing; run 'npm ci' (with dev dependencies)" >&2; exit 1; }
[ -x "$node" ] || node=$(command -v node)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat > "$work/buf.gen.yaml" <<GEN
version: v2
plugins:
  - local: ["$node", "$plugin"]
    out: $work/out
    strategy: all
    opt:
      - env=node
      - esModuleInterop=true
      - importSuffix=.ts
      - outputServices=grpc-js
      - enumsAsLiterals=true      # TypeScript enums are not erasable
      - unrecognizedEnum=false
      - forceLong=string          # times in nanoseconds do not fit a number
      - useOptionals=messages
      - useExactTypes=false
      - outputJsonMethods=false   # messages are plain objects already
      - outputPartialMethods=true
      - annotateFilesWithVersion=false
GEN
# HOME: buf wants a cache folder even when it has nothing to fetch.
HOME=$work "$buf" generate "$cri/proto" --template "$work/buf.gen.yaml"
mkdir -p "$out"
find "$out" -name '*.ts' -delete
cp -R "$work/out/." "$out/"
