# Sourced by bin/demo and bin/nodes-demo: npm packages are there, and `node` is one that runs the sources. Needs `root`, `install` (yes or no),
# and the functions say, die and have.
case $(uname -m) in
  x86_64 | amd64) arch=x64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) arch= ;;
esac
if [ ! -d "$root/node_modules/xstate" ] || { [ -n "$arch" ] && [ ! -x "$root/node_modules/node-linux-$arch/bin/node" ] && [ -z "${ACTORLET_NODE:-}" ]; }; then
  [ "$install" = yes ] || die "the npm packages are missing in $root." "Install them: cd $root && npm ci"
  have node || die "Node.js is missing." "Install it: apt-get install nodejs npm"
  have npm || die "npm is missing; it brings the packages this needs." "Install it: apt-get install npm"
  say "installing npm packages"
  log=$(mktemp)
  if ! (cd "$root" && npm ci --no-fund --no-audit) >"$log" 2>&1; then
    tail -n 15 "$log" >&2
    rm -f "$log"
    die "npm ci failed in $root (its last lines are above)." "See that the npm registry can be reached, then run this again."
  fi
  rm -f "$log"
fi

node=${ACTORLET_NODE:-$root/node_modules/node-linux-$arch/bin/node}
[ -x "$node" ] || node=$(command -v node || true)
[ -n "$node" ] || die "Node.js is missing." "Install it: apt-get install nodejs npm, or set ACTORLET_NODE."
major=$("$node" -p 'process.versions.node.split(".")[0]' 2>/dev/null)
[ "${major:-0}" -ge 24 ] || die "$node is Node.js $("$node" --version 2>/dev/null); 24 or newer is needed." "Run npm ci in $root, or set ACTORLET_NODE to a newer one."
