# shellcheck shell=bash
# What `bin/test quick` runs: an answer within a minute on two cores, by leaving out what takes long. bin/test reads this file, so its
# functions (`static`, `layer`) and settings ($node) are there.
# Three lanes: the tools that read sources, the pure tests, and the simulated nodes, which mostly wait.

# Files that differ from the commit $ACTORLET_TEST_BASE (HEAD when unset), and those that git does not know yet. A tree without a change shows
# its last commit, so that a check after the commit is one too.
quick_changed() {
  local base=${ACTORLET_TEST_BASE:-HEAD} files
  files=$(git diff --name-only --diff-filter=d "$base" -- 2>/dev/null; git ls-files --others --exclude-standard 2>/dev/null)
  [ -n "$files" ] || [ -n "${ACTORLET_TEST_BASE:-}" ] || files=$(git diff --name-only --diff-filter=d HEAD~1 -- 2>/dev/null)
  [ -z "$files" ] || printf '%s\n' "$files" | sort -u
}

quick_sources() {
  local memory changed=() sources=() file
  memory=$(tool_memory) || { static memory false; return; }
  while read -r file; do
    [ -f "$file" ] || continue
    changed+=("$file")
    case "$file" in *.ts | *.tsx | *.js) sources+=("$file") ;; esac
  done < <(quick_changed)
  echo "...   quick: ${#changed[@]} changed files, ${#sources[@]} of them sources"
  static tsc "$node" node_modules/typescript/bin/tsc -p . --incremental --tsBuildInfoFile "$memory/tsc.json"
  [ ${#changed[@]} -eq 0 ] ||
    static prettier "$node" node_modules/prettier/bin/prettier.cjs --check --ignore-unknown "${changed[@]}"
  # By content: a branch that is switched to and back again is known still. Rules that need types may be told too little by this
  # memory when the type of another file changed; `bin/test static` looks at all, and remembers nothing.
  [ ${#sources[@]} -eq 0 ] ||
    static eslint "$node" --max-old-space-size=3072 node_modules/eslint/bin/eslint.js --max-warnings 0 --no-warn-ignored \
      --cache --cache-strategy content --cache-location "$memory/eslint.json" "${sources[@]}"
}

# Simulated parts that say most in a few seconds: the server's pages, the status that is told, mirror pods, a real agent's secrets.
QUICK_SIMULATED="test/simulated/server test/simulated/status/calls.test.ts test/simulated/mirror-pods test/simulated/agent/secrets.test.ts"
# Seeds of the whole node in virtual time; a second each.
QUICK_SEEDS=5

quick_pure() {
  PART=shared layer pure --test-isolation=none
}
quick_nodes() {
  local path
  for path in $QUICK_SIMULATED; do
    [ -e "$path" ] || { echo "FAIL  quick: no $path; see QUICK_SIMULATED"; count quick 0 1 0; }
  done
  ONLY=$QUICK_SIMULATED PART=quick layer simulated --test-isolation=none
  static simulate bin/simulate --seed 1 --seeds "$QUICK_SEEDS" --no-keep
}
