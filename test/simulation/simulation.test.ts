import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registerSimulationHooks } from './loader/register.ts';

registerSimulationHooks();
const { drawPlan } = await import('./draw/draw-plan.ts');
const { FRESH_SEEDS, again, firstFreshSeed } = await import('./draw/fresh-seeds.ts');
const { runInScratch } = await import('./run/in-scratch.ts');
const { Coverage } = await import('./run/coverage.ts');
const { allMoves, allStates } = await import('./run/coverage-text.ts');
const { allowedMoves, rulesOut } = await import('./run/possible-moves.ts');
const { partlySimulated, unreachedMoves, unsimulatedStates } = await import('./run/unreached-moves.ts');
const { pinnedPlans } = await import('./run/saved-plan.ts');
const { shrink } = await import('./run/shrink.ts');

const FIXED = 30;

/** So many of them with claims as well. */
const WITH_CLAIMS = 8;

/** Must runs come to this state, or make this move? */
const isCalledFor = (what: string): boolean => !Object.hasOwn(partlySimulated, what.split(' ')[0] ?? '');

/** Of pinned plans and fixed seeds. */
const coverage = new Coverage();

test('plans that once found something find nothing more', async () => {
  const pinned = pinnedPlans();
  assert.ok(pinned.size > 0);
  for (const { found, plan, file } of pinned.values()) {
    const result = await runInScratch(plan);
    assert.deepEqual(result.violations, [], `${found}; bin/simulate --plan ${file}`);
    coverage.add(result.coverage);
  }
});

test('fixed seeds keep all rules; with the pinned plans they reach every state and every move of the machines, and every kind of fault', async () => {
  const kinds = new Set<string>();
  for (let seed = 1; seed <= FIXED; seed++) {
    const plan = drawPlan(seed);
    const result = await runInScratch(plan);
    assert.deepEqual(result.violations, [], again(seed));
    coverage.add(result.coverage);
    for (const { kind } of plan.faults) kinds.add(kind);
  }
  assert.deepEqual(
    allStates().filter((state) => isCalledFor(state) && !coverage.states.has(state)),
    [],
    'states that were not reached',
  );
  assert.deepEqual(
    allMoves().filter((move) => isCalledFor(move) && !coverage.transitions.has(move)),
    [],
    'moves that were not made; one that no run comes to is named in run/unreached-moves.ts',
  );
  const struck = new Set([...coverage.faults.keys()].map((name) => name.split('.')[0]));
  assert.deepEqual(
    [...kinds].filter((kind) => !struck.has(kind)),
    [],
    'faults that were drawn and never struck',
  );
  assert.ok(kinds.size >= 14, [...kinds].join());
});

test('fixed seeds of nodes with CSI drivers keep all rules', async () => {
  const seen = new Coverage();
  for (let seed = 1; seed <= WITH_CLAIMS; seed++) {
    const result = await runInScratch(drawPlan(seed, { claims: true }));
    assert.deepEqual(result.violations, [], `${again(seed)} --claims`);
    seen.add(result.coverage);
  }
  for (const state of ['mount mounted', 'mount unpublishing', 'device ready', 'device unstaging', 'device attaching'])
    assert.ok(seen.states.has(state), state);
});

test('what is said to be unreached is allowed by a definition, and nothing is said twice', () => {
  const allowed = allowedMoves();
  for (const [machine, states] of Object.entries(unsimulatedStates))
    for (const state of Object.keys(states)) assert.ok(allowed.get(machine)?.states.includes(state), state);
  for (const row of unreachedMoves) {
    const moves = (allowed.get(row.machine)?.moves ?? []).filter((move) => rulesOut(row, move));
    assert.ok(moves.length > 0, `${row.machine}: ${row.why}`);
    for (const move of moves) {
      const rows = unreachedMoves.filter((other) => other.machine === row.machine && rulesOut(other, move));
      assert.equal(rows.length, 1, `${row.machine} ${move}`);
    }
  }
});

test('fresh seeds keep all rules', async (t) => {
  const first = firstFreshSeed(new Date(), process.env['ACTORLET_FRESH_SEED']);
  t.diagnostic(
    `the ${FRESH_SEEDS} seeds of this day, from ${first}: bin/simulate --seed ${first} --seeds ${FRESH_SEEDS}`,
  );
  const broken: string[] = [];
  for (let seed = first; seed < first + FRESH_SEEDS; seed++) {
    const [violation] = (await runInScratch(drawPlan(seed))).violations;
    if (violation !== undefined) broken.push(`${again(seed)}  # ${violation.rule}: ${violation.problem}`);
  }
  assert.deepEqual(broken, [], 'each line repeats what it found, on any day');
});

test('the fresh seeds of a day are the same for all who look, and others on the next', () => {
  const [morning, evening, next] = ['2026-11-22T00:00:00Z', '2026-11-22T23:59:59Z', '2026-11-23T00:00:00Z'].map(
    (time) => firstFreshSeed(new Date(time)),
  );
  assert.equal(morning, 261_122_000);
  assert.equal(evening, morning);
  assert.ok(next !== undefined && next >= 261_122_000 + FRESH_SEEDS);
  assert.equal(firstFreshSeed(new Date(), '261122000'), morning);
  assert.throws(() => firstFreshSeed(new Date(), 'tomorrow'), /no seed: "tomorrow"/);
});

test('a seed gives the same run each time, to the byte of its journals', async () => {
  for (const seed of [3, 11]) {
    const [one, two] = [await runInScratch(drawPlan(seed)), await runInScratch(drawPlan(seed))];
    assert.equal(one.digest, two.digest);
    assert.equal(one.events, two.events);
    assert.ok(one.messages > 100, `${one.messages} messages`);
  }
  const other = await runInScratch(drawPlan(4));
  assert.notEqual(other.digest, (await runInScratch(drawPlan(5))).digest);
});

test('jumping over idle times changes no outcome', async () => {
  for (const seed of [2, 5, 7, 9]) {
    const plan = drawPlan(seed, { hours: 1, faults: false });
    const jumped = await runInScratch(plan);
    const walked = await runInScratch(plan, { jumps: false });
    assert.deepEqual(jumped.violations, []);
    assert.deepEqual(walked.violations, []);
    assert.deepEqual(jumped.outcome, walked.outcome, `seed ${seed}`);
    assert.ok(jumped.events < walked.events, 'something was jumped over');
  }
});

test('a schedule that fails is made shorter as long as it fails', async () => {
  const plan = drawPlan(12, { pods: 8 });
  const culprit = plan.pods[3]?.key ?? '';
  const least = await shrink(plan, async ({ pods }) => pods.some(({ key }) => key === culprit));
  assert.deepEqual(
    least.pods.map(({ key }) => key),
    [culprit],
  );
  assert.deepEqual([least.changes, least.faults], [[], []]);
});
