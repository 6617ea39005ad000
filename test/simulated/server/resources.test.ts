/** `actorlet resources`, from the managers' states over `/actorlet/resources` to what a person reads. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { resourcesCommand } from '../../../bin/commands/resources.ts';
import { resourceTable } from '../../../machines/pod-resources-api/resource-rows.ts';
import type { Holdings } from '../../../machines/pod-resources-api/resource-rows.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { withUid } from '../../../machines/supervisor/uid-table.ts';
import { startFakeAgent } from './fake-agent.ts';
import type { FakeAgent } from './fake-agent.ts';

const GI = 2 ** 30;
const table = (free: number, of: number) => ({
  total: of,
  systemReserved: 0,
  allocatable: of,
  reserved: of - free,
  free,
});
const holdings: Holdings = {
  resources: {
    cpu: {
      shared: '0,4-7',
      pods: withUid(withUid({}, 'u1', [{ name: 'main', cpus: '2-3' }]), 'gone', [{ name: 'old', cpus: '1' }]),
    },
    memory: {
      nodes: [
        {
          ...{ id: 0, numberOfAssignments: 1, cells: [0] },
          memoryMap: { memory: table(3 * GI, 4 * GI), 'hugepages-2Mi': table(0, 4 * 2 ** 20) },
        },
        { id: 1, numberOfAssignments: 0, cells: [1], memoryMap: { memory: table(4 * GI, 4 * GI) } },
      ],
      pods: withUid({}, 'u1', [
        {
          name: 'main',
          blocks: [
            { type: 'memory', size: GI, numaAffinity: [0] },
            { type: 'hugepages-2Mi', size: 4 * 2 ** 20, numaAffinity: [0, 1] },
          ],
        },
      ]),
    },
  },
  ...{ devices: null, claims: null, extended: false },
};
const pods: Pod[] = [
  {
    metadata: { name: 'db', namespace: 'shop', uid: 'u1' },
    spec: { containers: [{ name: 'main' }, { name: 'aside' }] },
    status: { startTime: '2026-11-21T02:10:08Z' },
  },
];

describe('actorlet resources', () => {
  let agent: FakeAgent;
  before(async () => {
    agent = await startFakeAgent();
  });
  after(() => agent.server.close());

  async function told(holds: Holdings, ...more: string[]): Promise<string> {
    agent.resources = resourceTable(holds, pods);
    let out = '';
    const command = resourcesCommand((text) => (out += text));
    await command.parseAsync(['--server', agent.server.url, ...more], { from: 'user' });
    return out;
  }
  const cells = (text: string) =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));

  it('shows CPUs and memory of each container, since when, and what is left', async () => {
    assert.deepEqual(cells(await told(holdings)), [
      ['POD', 'CONTAINER', 'CPUS', 'MEMORY', 'DEVICES', 'SINCE'],
      ['gone', 'old', '1', '-', '-', '-'],
      [
        ...['shop/db', 'main', '2-3', `memory ${GI} of node 0; hugepages-2Mi 4194304 of node 0,1`, '-'],
        '2026-11-21T02:10:08Z',
      ],
      ['(shared by all others)', '-', '0,4-7', '-', '-', '-'],
      ['(free of node 0)', '-', '-', `memory ${3 * GI} of ${4 * GI}`, '-', '-'],
      ['(free of node 0)', '-', '-', 'hugepages-2Mi 0 of 4194304', '-', '-'],
      ['(free of node 1)', '-', '-', `memory ${4 * GI} of ${4 * GI}`, '-', '-'],
    ]);
  });

  it('shows CPUs where memory is not given away, and memory where CPUs are not', async () => {
    const { cpu = null, memory = null } = holdings.resources ?? {};
    const firsts = async (resources: Holdings['resources']) =>
      cells(await told({ ...holdings, resources })).map(([first]) => first);
    assert.deepEqual(await firsts({ cpu, memory: null }), ['POD', 'gone', 'shop/db', '(shared by all others)']);
    const free = ['(free of node 0)', '(free of node 0)', '(free of node 1)'];
    assert.deepEqual(await firsts({ cpu: null, memory }), ['POD', 'shop/db', ...free]);
    assert.deepEqual((await told({ ...holdings, resources: null })).split(' ').slice(0, 3), ['Neither', 'CPUs', 'nor']);
  });

  it('-o json is what the route answers without its kind', async () => {
    const answer = await fetch(`${agent.server.url}/actorlet/resources`);
    assert.equal(answer.headers.get('content-type'), 'application/json');
    const json = JSON.parse(await told(holdings, '-o', 'json')) as object;
    const body = (await (await fetch(`${agent.server.url}/actorlet/resources`)).json()) as object;
    assert.deepEqual(body, { kind: 'ActorletResources', ...json });
    assert.deepEqual(json, resourceTable(holdings, pods));
  });

  it('takes the answer of an agent that does not tell since when; what is no table is an error', async () => {
    agent.resources = {
      ...{ shared: '0-3', free: null },
      rows: [{ pod: 'a/b', uid: 'u', container: 'c', cpus: '1', memory: [], devices: [] }],
    };
    let out = '';
    const ask = () =>
      resourcesCommand((text) => (out += text)).parseAsync(['--server', agent.server.url], { from: 'user' });
    await ask();
    assert.deepEqual(cells(out)[1], ['a/b', 'c', '1', '-', '-', '-']);
    agent.resources = { shared: 7 };
    await assert.rejects(ask(), /SRV004|no table of resources/);
  });
});
