import { Session } from 'node:inspector/promises';
import type { Profiler } from 'node:inspector';
import { setTimeout as sleep } from 'node:timers/promises';
import { Function as PprofFunction, Line, Location, Profile, Sample, StringTable, ValueType } from 'pprof-format';

/** Time between two looks at the stack, µs. */
const INTERVAL_US = 10_000;

/**
 * Looks at the main thread's stack for some seconds and gives a CPU profile in pprof's format, not compressed.
 * The signal ends it early, with what was seen until then.
 */
export async function cpuProfile(seconds: number, signal: AbortSignal): Promise<Buffer> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: INTERVAL_US });
    await session.post('Profiler.start');
    await sleep(seconds * 1000, undefined, { signal }).catch(() => undefined);
    const { profile } = await session.post('Profiler.stop');
    return Buffer.from(toPprof(profile).encode());
  } finally {
    session.disconnect();
  }
}

/** V8's profile (a tree of calls, and the node of each sample) as pprof's (a stack for each place with its time). */
function toPprof({ nodes, samples = [], timeDeltas = [], startTime, endTime }: Profiler.Profile): Profile {
  const strings = new StringTable();
  const parents = new Map<number, number>();
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const functions: PprofFunction[] = [];
  const locations: Location[] = [];
  for (const { id, callFrame } of nodes) {
    const name = strings.dedup(callFrame.functionName === '' ? '(anonymous)' : callFrame.functionName);
    functions.push(new PprofFunction({ id, name, systemName: name, filename: strings.dedup(callFrame.url) }));
    locations.push(new Location({ id, line: [new Line({ functionId: id, line: callFrame.lineNumber + 1 })] }));
  }
  const seen = new Map<number, { count: number; us: number }>();
  samples.forEach((id, i) => {
    const sum = seen.get(id) ?? { count: 0, us: 0 };
    sum.count++;
    sum.us += timeDeltas[i] ?? 0;
    seen.set(id, sum);
  });
  const valueType = (type: string, unit: string) =>
    new ValueType({ type: strings.dedup(type), unit: strings.dedup(unit) });
  return new Profile({
    sampleType: [valueType('samples', 'count'), valueType('cpu', 'nanoseconds')],
    sample: [...seen].map(([id, { count, us }]) => new Sample({ locationId: stackOf(id), value: [count, us * 1000] })),
    location: locations,
    function: functions,
    stringTable: strings,
    durationNanos: (endTime - startTime) * 1000,
    timeNanos: Date.now() * 1_000_000,
    periodType: valueType('cpu', 'nanoseconds'),
    period: INTERVAL_US * 1000,
  });

  function stackOf(leaf: number): number[] {
    const stack: number[] = [];
    for (let id: number | undefined = leaf; id !== undefined; id = parents.get(id)) stack.push(id);
    return stack;
  }
}
