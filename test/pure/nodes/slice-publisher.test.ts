import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { pino } from 'pino';
import { ApiStatusError } from '../../../actors/cluster/api/api-client.ts';
import type { ApiRequest } from '../../../actors/cluster/api/api-client.ts';
import type { DriverSlice } from '../../../actors/node/fleet/driver-slices.ts';
import { SlicePublisher } from '../../../actors/node/fleet/slice-publisher.ts';
import { StandInApi } from '../../tools/stand-in-api.ts';
import type { Stored } from '../../tools/stand-in-api.ts';

/** A clock that stands still: what is to come is called by hand. */
class HeldClock {
  readonly waits: number[] = [];
  private next: (() => void) | undefined;

  after(ms: number, action: () => void) {
    this.waits.push(ms);
    this.next = action;
    return { cancel: () => (this.next = undefined) };
  }

  run(): void {
    const action = this.next;
    this.next = undefined;
    action?.();
  }
}

/** An API server that may refuse to take slices, and counts how often it was asked to. */
class SliceApi extends StandInApi {
  refuses = false;
  readonly writes: string[] = [];

  override request<T>(request: ApiRequest): Promise<T> {
    const { method, name, body } = request;
    if (method === 'POST' || method === 'PUT') {
      this.writes.push(`${method} ${name ?? (body as Stored).metadata['name']}`);
      if (this.refuses) return Promise.reject(new ApiStatusError(503, 'ServiceUnavailable', 'not now'));
    }
    return super.request(request);
  }
}

function slice(name: string, generation = 1): DriverSlice {
  const pool = { name: 'n', generation, resourceSliceCount: 1 };
  return { metadata: { name }, spec: { driver: 'gpu.example.com', nodeName: 'n', pool, devices: [] } };
}

/** A publisher of what `wanted` holds at each time, which has published it once. */
async function publisher(t: TestContext, ...first: DriverSlice[]) {
  const wanted: DriverSlice[] = [];
  const api = new SliceApi();
  const [clock, real] = [new HeldClock(), new HeldClock()];
  const log = pino({ level: 'silent' });
  const made = new SlicePublisher(
    { api, nodeName: 'n', log, clock, real },
    () => wanted,
    () => 'uid-of-n',
  );
  t.after(() => made.stop());
  made.start();
  await settled();
  // The watch is open.
  wanted.push(...first);
  made.look();
  await settled();
  return { api, clock, real, wanted, made };
}

/** Whatever is under way without a clock is done. */
async function settled(): Promise<void> {
  for (let i = 0; i < 50; i++) await turn();
}

test("a driver rests by the nodes' clock after it has published, and publishes then what vanished meanwhile", async (t) => {
  const { api, clock, real } = await publisher(t, slice('a'));
  assert.deepEqual(api.writes, ['POST a']);
  assert.deepEqual([clock.waits, real.waits], [[1_000], []]);
  api.remove('resourceslices', 'a');
  await settled();
  assert.equal(api.writes.length, 1);
  clock.run();
  await settled();
  assert.deepEqual(api.writes, ['POST a', 'POST a']);
});

test("a request that fails is tried again by the machine's clock, ever later", async (t) => {
  const { api, clock, real } = await publisher(t, slice('a'));
  clock.run();
  api.refuses = true;
  api.remove('resourceslices', 'a');
  await settled();
  for (let i = 0; i < 2; i++) {
    real.run();
    await settled();
  }
  assert.deepEqual([real.waits, clock.waits], [[1_000, 2_000, 4_000], [1_000]]);
  api.refuses = false;
  real.run();
  await settled();
  assert.equal(api.all('resourceslices').length, 1);
  assert.deepEqual(
    [real.waits, clock.waits],
    [
      [1_000, 2_000, 4_000],
      [1_000, 1_000],
    ],
  );
});

test('a slice of another generation is replaced, when the rest is over', async (t) => {
  const { api, clock, wanted, made } = await publisher(t, slice('a'));
  wanted[0] = slice('a', 2);
  made.look();
  await settled();
  assert.deepEqual(api.writes, ['POST a']);
  clock.run();
  await settled();
  assert.deepEqual(api.writes, ['POST a', 'PUT a']);
  const { spec, metadata } = api.get('resourceslices', 'a') ?? {};
  assert.deepEqual((spec?.['pool'] as { generation: number }).generation, 2);
  assert.ok(Array.isArray(metadata?.['ownerReferences']));
  clock.run();
  await settled();
  assert.equal(api.writes.length, 2);
});
