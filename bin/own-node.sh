# Sourced by commands of this folder that need a checkout: `root` is the checkout, `node` its own Node 24 (of the npm
# package node-linux-ARCH). Without one, the command ends with 1 and says what to do.
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P) || exit 1
case $(uname -m) in x86_64) arch=x64 ;; aarch64) arch=arm64 ;; *) arch=none ;; esac
node=$root/node_modules/node-linux-$arch/bin/node
if [ ! -x "$node" ]; then
  echo "${0##*/}: no Node 24 in $root/node_modules: run 'npm ci' first." >&2
  exit 1
fi
