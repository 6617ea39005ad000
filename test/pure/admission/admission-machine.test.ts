/** Admission with what it sets aside, as one machine of plain JSON. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { admission } from '../../../actors/record/machines/admission.ts';
import { changesNothing, stepAdmission } from '../../../machines/admission/admission-machine.ts';
import type { AdmissionMessage, AdmissionOrder } from '../../../machines/admission/admission-messages.ts';
import { bornAdmission } from '../../../machines/admission/admission-state.ts';
import type { AdmissionState } from '../../../machines/admission/admission-state.ts';
import { usageOf } from '../../../machines/admission/node-usage.ts';
import { claimOf, nodeClaim } from '../../../machines/admission/pod-claim.ts';
import type { ResourceManager } from '../../../machines/admission/resource-manager.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { atUid, uidEntries } from '../../../machines/supervisor/uid-table.ts';
import { container, node, pod } from './admission-input.ts';
import { RULES } from './admission-rules.ts';

type WithoutTime<M> = M extends unknown ? Omit<M, 'at'> : never;

/** The machine with a clock that goes on by 1 s with each message. */
class Told {
  state: AdmissionState;
  at = 0;
  private readonly managers: readonly ResourceManager[];

  constructor(managers: readonly ResourceManager[] = [], rules = RULES) {
    this.managers = managers;
    this.state = { ...bornAdmission(rules, managers), node: nodeClaim(node()) };
  }

  take(message: WithoutTime<AdmissionMessage>): AdmissionOrder[] {
    this.at += 1_000;
    const { state, outputs } = stepAdmission(
      this.state,
      { ...message, at: this.at } as AdmissionMessage,
      this.managers,
    );
    this.state = state;
    return outputs;
  }

  /** The pod asks, and comes when it is taken. */
  comes(asking: Pod): AdmissionOrder[] {
    const claim = claimOf(asking);
    const orders = this.take({ type: 'pod.asks', pod: claim });
    if (orders.some(({ type }) => type === 'pod.take')) this.take({ type: 'pod.comes', pod: claim });
    return orders;
  }

  reported(uid: string, { ended = false } = {}): AdmissionOrder[] {
    return this.take({ type: 'pod.reported', uid, status: {}, generation: 9, ended });
  }
}

/** A pod of one container that may ask for so many CPUs, in this generation. */
const asking = (name: string, cpu: string, generation = 1): Pod =>
  pod(
    name,
    { containers: [container('main', { cpu })] },
    { name, namespace: 'default', uid: `uid-${name}`, generation },
  );

const PREEMPTING: typeof RULES = { ...RULES, preempts: true, resizesPreempt: true };

const kinds = (orders: readonly AdmissionOrder[]) => orders.map(({ type }) => type);

test('a pod that does not fit is refused and counts for nothing; one that ends makes room', () => {
  const told = new Told();
  assert.deepEqual(told.comes(asking('a', '3')), [{ type: 'pod.take', uid: 'uid-a' }]);
  const refusal = {
    ...{ type: 'pod.refuse', uid: 'uid-b', reason: 'OutOfcpu', again: false },
    message: "Node didn't have enough resource: cpu, requested: 2000, used: 3000, capacity: 4000",
  };
  assert.deepEqual(told.comes(asking('b', '2')), [refusal]);
  assert.equal(told.state.usage.pods, 1);
  told.reported('uid-a', { ended: true });
  assert.deepEqual(kinds(told.comes(asking('b', '2'))), ['pod.take']);
});

test('what is missing of a critical pod is told, for who would make room', () => {
  const told = new Told();
  told.comes(asking('a', '3'));
  const critical = { ...asking('c', '2'), spec: { ...asking('c', '2').spec, priority: 2_000_000_000 } } as Pod;
  const [order] = told.comes(critical);
  assert.deepEqual(order?.type === 'pod.refuse' && order.preempt, [{ resource: 'cpu', amount: 1_000 }]);
});

test('a pod that only lacks a label asks again, with the node of that moment', () => {
  const told = new Told();
  const choosy = claimOf(pod('a', { nodeSelector: { zone: 'a' }, containers: [container('main')] }));
  const [refused] = told.take({ type: 'pod.asks', pod: choosy });
  assert.equal(refused?.type === 'pod.refuse' && refused.again, true);
  const fresh = nodeClaim(node({ labels: { zone: 'a' } }));
  assert.deepEqual(kinds(told.take({ type: 'pod.asks', pod: choosy, node: fresh })), ['pod.take']);
  assert.deepEqual(told.state.node, nodeClaim(node()), 'what the watch told still counts');
});

test('a resize waits for room, is granted when it is there, and is on disk before its pod hears of it', () => {
  const told = new Told();
  told.comes(asking('a', '2'));
  told.comes(asking('b', '2'));
  const wish = claimOf(asking('a', '3', 2));
  const deferred = told.take({ type: 'pod.changed', pod: wish, ready: true });
  assert.deepEqual(kinds(deferred), ['resize.asked', 'retry.in', 'checkpoint.write', 'event.record']);
  const event = deferred.find(({ type }) => type === 'event.record');
  assert.match(
    event?.type === 'event.record' ? `${event.reason}: ${event.message}` : '',
    /^ResizeDeferred: Pod resize Deferred: .*requested: 3000, used: 2000, capacity: 4000/,
  );
  assert.equal(admission.stateName(told.state), 'resizesWait');
  const same: AdmissionMessage = { type: 'pod.changed', at: told.at + 1, pod: wish, ready: true };
  assert.ok(changesNothing(told.state, same), 'the same wish once more says nothing');
  assert.deepEqual(told.take({ type: 'pod.gone', uid: 'uid-b' }).at(-1), {
    type: 'retry.soon',
    trigger: 'pods_removed',
  });
  assert.deepEqual(told.take({ type: 'pod.gone', uid: 'uid-x' }), [], 'one look is enough for all that ends meanwhile');
  const granted = told.take({ type: 'resizes.due', trigger: 'pods_removed', ready: true });
  assert.deepEqual(kinds(granted), ['retry.in', 'resize.accepted', 'checkpoint.write', 'pod.runs']);
  assert.deepEqual(atUid(told.state.pods, 'uid-a')?.allocation.ContainerResources, {
    main: { requests: { cpu: '3' } },
  });
  assert.equal(told.state.usage.total.cpu, 3_000);
  assert.deepEqual(told.state.waiting, []);
});

test('a resize beyond what is allocatable waits, as long as it is within what is not reserved', () => {
  const decided = (more: Partial<typeof RULES>) => {
    const told = new Told([], { ...RULES, ...more });
    told.comes(asking('a', '2'));
    told.take({ type: 'pod.changed', pod: claimOf(asking('a', '5', 2)), ready: true });
    const { reason, message } = atUid(told.state.pods, 'uid-a')?.pending ?? {};
    return [reason, message];
  };
  const most = (cpuMilli: number) => ({ most: { cpuMilli, memoryBytes: 8 * 2 ** 30 } });
  const short = "Node didn't have enough resource: cpu, requested: 5000, used: 0, capacity: 4000";
  assert.deepEqual(decided(most(5_000)), ['Deferred', short]);
  const never = (capacity: number) => `Node didn't have enough capacity: cpu, requested: 5000, capacity: ${capacity}`;
  assert.deepEqual(decided(most(4_500)), ['Infeasible', never(4_500)]);
  assert.deepEqual(decided({}), ['Infeasible', never(4_000)], 'as older logs have it');
});

test('a resize waits as long as a manager would not take the pod, whatever the node has left', () => {
  const told = new Told();
  told.comes(asking('a', '1'));
  const refusals = { 'uid-a': 'The node had condition: [DiskPressure]. ' };
  const wish = claimOf(asking('a', '2', 2));
  const deferred = told.take({ type: 'pod.changed', pod: wish, ready: true, refusals });
  const event = deferred.find(({ type }) => type === 'event.record');
  assert.equal(event?.type === 'event.record' && event.reason, 'ResizeDeferred');
  assert.match(
    event?.type === 'event.record' ? event.message : '',
    /"error":"The node had condition: \[DiskPressure\]\. "/,
  );
  assert.deepEqual(told.state.waiting, ['uid-a']);
  assert.deepEqual(kinds(told.take({ type: 'resizes.due', trigger: 'periodic_retry', ready: true, refusals })), [
    'retry.in',
  ]);
  const granted = told.take({ type: 'resizes.due', trigger: 'periodic_retry', ready: true });
  assert.deepEqual(kinds(granted), ['retry.in', 'resize.accepted', 'checkpoint.write', 'pod.runs']);
  // More than the node can ever give is told as such, also then.
  const never = told.take({ type: 'pod.changed', pod: claimOf(asking('a', '9', 3)), ready: true, refusals });
  assert.deepEqual(kinds(never).includes('resize.infeasible'), true);
});

test("a critical pod's resize displaces others: nobody is looked at meanwhile, then it is granted, then the rest", () => {
  const critical = (cpu: string, generation = 1): Pod => wishing('a', cpu, generation);
  const begun = (over = PREEMPTING) => {
    const told = new Told([], over);
    told.comes(critical('1'));
    told.comes(asking('b', '1'));
    told.comes(asking('c', '1'));
    return { told, pressed: told.take({ type: 'pod.changed', pod: claimOf(critical('3', 2)), ready: true }) };
  };
  const { told, pressed } = begun();
  assert.deepEqual(kinds(pressed), ['resize.asked', 'retry.in', 'resize.preempts']);
  const order = pressed.find(({ type }) => type === 'resize.preempts');
  assert.deepEqual(order?.type === 'resize.preempts' && [order.signal, order.victims.map(({ uid }) => uid)], [
    'cpu',
    ['uid-c'],
  ]);
  assert.equal(admission.why(told.state), 'default/a: pods are ending for it');
  assert.equal(atUid(told.state.pods, 'uid-a')?.pending, null, 'kubelet tells nothing until it is decided');
  // Another one wishes for the room that is about to be there.
  assert.deepEqual(kinds(told.take({ type: 'pod.changed', pod: claimOf(asking('b', '2', 2)), ready: true })), [
    'resize.asked',
    'retry.in',
  ]);
  told.reported('uid-c', { ended: true });
  assert.deepEqual(kinds(told.take({ type: 'resizes.due', trigger: 'pods_removed', ready: true })), ['retry.in']);
  const made = told.take({ type: 'room.made', uid: 'uid-a', ready: true });
  assert.deepEqual(kinds(made), ['checkpoint.write', 'pod.runs', 'retry.in', 'event.record', 'pod.runs']);
  assert.equal(told.state.usage.total.cpu, 4_000);
  assert.deepEqual([told.state.waiting, told.state.making], [['uid-b'], null]);
  assert.match(atUid(told.state.pods, 'uid-b')?.pending?.message ?? '', /requested: 2000, used: 3000, capacity: 4000/);

  // One that did not end in time does not stand in its way, and one that is gone is not asked about.
  const late = begun();
  assert.ok(kinds(late.told.take({ type: 'room.made', uid: 'uid-a', ready: true })).includes('pod.runs'));
  const gone = begun();
  gone.told.take({ type: 'pod.gone', uid: 'uid-a' });
  assert.deepEqual(gone.told.take({ type: 'room.made', uid: 'uid-a', ready: true }), []);

  const alone = new Told([], PREEMPTING);
  alone.comes(critical('1'));
  const other = critical('3');
  alone.comes({ ...other, metadata: { ...other.metadata, name: 'd', uid: 'uid-d' } });
  alone.take({ type: 'pod.changed', pod: claimOf(critical('2', 2)), ready: true });
  assert.equal(
    atUid(alone.state.pods, 'uid-a')?.pending?.message,
    'Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods ' +
      'to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 1000), ]',
  );
  const { pressed: older } = begun({ ...RULES, preempts: true });
  assert.deepEqual(
    kinds(older),
    ['resize.asked', 'retry.in', 'checkpoint.write', 'event.record'],
    'as older logs have it',
  );
});

test('a container that may swap keeps its memory, unless it is restarted for more: its claim says so', () => {
  const asks = (memory: string, restartPolicy: string, generation = 1): Pod => {
    const resizePolicy = [{ resourceName: 'memory', restartPolicy }];
    return { ...asking('a', '1', generation), spec: { containers: [container('main', { memory }, { resizePolicy })] } };
  };
  const pendingAfter = (restartPolicy: string) => {
    const told = new Told([], { ...RULES, limitedSwap: true });
    told.comes(asks('1Gi', restartPolicy));
    const orders = kinds(told.take({ type: 'pod.changed', pod: claimOf(asks('2Gi', restartPolicy, 2)), ready: true }));
    return [orders.includes('event.record'), atUid(told.state.pods, 'uid-a')?.pending?.message];
  };
  assert.deepEqual(pendingAfter('NotRequired'), [false, 'In-place resize of containers with swap is not supported.']);
  assert.deepEqual(pendingAfter('RestartContainer'), [false, undefined]);
});

test('what is asked for a whole pod is allocated and resized where the gate is on', () => {
  const asks = (cpu: string, generation = 1): Pod => {
    const own = asking('a', '500m', generation);
    return { ...own, spec: { containers: [], ...own.spec, resources: { requests: { cpu }, limits: { cpu } } } };
  };
  const resizing = (podLevelResizes?: true) => {
    const told = new Told([], { ...RULES, ...(podLevelResizes && { podLevelResizes }) });
    told.comes(asks('1'));
    const orders = kinds(told.take({ type: 'pod.changed', pod: claimOf(asks('2', 2)), ready: true }));
    const { allocation, desired } = atUid(told.state.pods, 'uid-a') ?? {};
    return { told, orders, whole: allocation?.PodLevelResources, runs: desired?.spec?.resources?.requests };
  };
  const { told, orders, whole } = resizing(true);
  assert.deepEqual(orders, ['retry.in', 'checkpoint.write'], 'kubelet counts no wish for whole pods');
  assert.deepEqual(whole, { requests: { cpu: '2' }, limits: { cpu: '2' } });
  assert.equal(told.state.usage.total.cpu, 2_000);
  // Below what it has in force it holds that, until it is told to be resized.
  const status = { resources: { requests: { cpu: '2' } }, allocatedResources: { cpu: '2' } };
  told.take({ type: 'pod.changed', pod: claimOf(asks('1', 3)), ready: true });
  const resize = { generation: 3, since: 0, error: '', actuated: {}, podLevel: { requests: { cpu: '2' } } };
  told.take({ type: 'pod.reported', uid: 'uid-a', status, generation: 3, ended: false, resize });
  assert.equal(told.state.usage.total.cpu, 2_000);
  assert.deepEqual(atUid(told.state.actuated, 'uid-a')?.PodLevelResources, { requests: { cpu: '2' } });
  told.take({ type: 'pod.reported', uid: 'uid-a', status: {}, generation: 3, ended: false });
  assert.equal(told.state.usage.total.cpu, 1_000);
  // More than the node has is pending, and the pod runs with what it has.
  const tooMuch = told.take({ type: 'pod.changed', pod: claimOf(asks('5', 4)), ready: true });
  assert.deepEqual(tooMuch[1], { type: 'resize.infeasible', uid: 'uid-a', detail: 'insufficient_node_allocatable' });
  assert.deepEqual(atUid(told.state.pods, 'uid-a')?.allocation.PodLevelResources?.requests, { cpu: '1' });
  const without = resizing();
  assert.deepEqual([without.orders, without.whole, without.runs], [[], null, { cpu: '2' }]);
});

test('more than the node can ever give is never given, and does not wait', () => {
  const told = new Told();
  told.comes(asking('a', '2'));
  const orders = told.take({ type: 'pod.changed', pod: claimOf(asking('a', '5', 2)), ready: true });
  const infeasible = { type: 'resize.infeasible', uid: 'uid-a', detail: 'insufficient_node_allocatable' };
  assert.deepEqual(orders[2], infeasible);
  assert.deepEqual([told.state.waiting, atUid(told.state.pods, 'uid-a')?.pending?.reason], [[], 'Infeasible']);
});

test('waiting resizes are not looked at before all sources have spoken', () => {
  const told = new Told();
  told.comes(asking('a', '2'));
  const wish = claimOf(asking('a', '3', 2));
  const orders = told.take({ type: 'pod.changed', pod: wish, ready: false });
  assert.deepEqual(orders.slice(1), [{ type: 'retry.in', ms: 30_000 }]);
  assert.deepEqual(kinds(told.take({ type: 'pods.came', ready: true })), ['retry.in', 'checkpoint.write', 'pod.runs']);
});

test('a pod runs with what an earlier agent had set aside for it, and wishes for the rest', () => {
  const told = new Told();
  const given = { ContainerResources: { main: { requests: { cpu: '1' } } }, PodLevelResources: null };
  told.take({ type: 'checkpoint.found', allocated: { 'uid-a': given, 'uid-x': given }, actuated: { 'uid-x': given } });
  told.comes(asking('a', '2'));
  assert.equal(told.state.usage.total.cpu, 1_000);
  assert.deepEqual([atUid(told.state.pods, 'uid-a')?.allocation, told.state.waiting], [given, ['uid-a']]);
  told.take({ type: 'sources.spoke' });
  assert.deepEqual([uidEntries(told.state.before), uidEntries(told.state.actuatedBefore)], [[], []], 'x has no owner');
});

/** Numbers of CPUs, each of one pod at most. */
const cpus: ResourceManager<Record<string, string>> = {
  name: 'cpus',
  born: () => ({ 0: '', 1: '' }),
  allocate(state, { metadata, spec }) {
    const uid = metadata?.uid ?? '';
    const free = Object.keys(state).find((cpu) => state[cpu] === '');
    if (spec?.priorityClassName !== 'own-cpu') return { state };
    if (free === undefined) return { admit: false, reason: 'UnexpectedAdmissionError', message: 'no cpu is free' };
    return { state: { ...state, [free]: uid } };
  },
  release: (state, uid) =>
    Object.values(state).includes(uid)
      ? Object.fromEntries(Object.entries(state).map(([cpu, owner]) => [cpu, owner === uid ? '' : owner]))
      : state,
};

test('a manager gives pods their parts: it may refuse, what others refuse it keeps, and what ends is free', () => {
  const told = new Told([cpus as ResourceManager]);
  const own = (name: string, cpu = '1') => {
    const base = asking(name, cpu);
    return { ...base, spec: { ...base.spec, priorityClassName: 'own-cpu' } } as Pod;
  };
  assert.deepEqual(kinds(told.comes(own('big', '9'))), ['pod.refuse'], 'behind the manager stands the node');
  assert.deepEqual(told.state.managed, { cpus: { 0: '', 1: '' } });
  for (const name of ['a', 'b', 'd']) told.comes(name === 'd' ? asking(name, '1') : own(name));
  assert.deepEqual(told.state.managed, { cpus: { 0: 'uid-a', 1: 'uid-b' } });
  const [order] = told.comes(own('c'));
  assert.equal(order?.type === 'pod.refuse' && order.message, 'no cpu is free');
  told.reported('uid-a', { ended: true });
  assert.deepEqual(kinds(told.comes(own('c'))), ['pod.take']);
  assert.deepEqual(told.state.managed, { cpus: { 0: 'uid-c', 1: 'uid-b' } });
});

const names = fc.constantFrom('a', 'b', 'c', 'd');
const amounts = fc.constantFrom('500m', '1', '2', '3', '5');
/** Of these one is critical. */
const wishing = (name: string, cpu: string, generation = 1): Pod => {
  const own = asking(name, cpu, generation);
  return name === 'a' ? { ...own, spec: { containers: [], ...own.spec, priority: 2_000_000_000 } } : own;
};
const anything: fc.Arbitrary<WithoutTime<AdmissionMessage>> = fc.oneof(
  fc.record({
    type: fc.constant('pod.asks' as const),
    pod: fc.tuple(names, amounts).map(([n, c]) => claimOf(wishing(n, c))),
  }),
  fc.record({
    type: fc.constant('pod.comes' as const),
    pod: fc.tuple(names, amounts).map(([n, c]) => claimOf(wishing(n, c))),
  }),
  fc.record({
    type: fc.constant('pod.changed' as const),
    pod: fc.tuple(names, amounts, fc.nat(3)).map(([n, c, g]) => claimOf(wishing(n, c, g + 1))),
    ready: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('pod.reported' as const),
    uid: names.map((name) => `uid-${name}`),
    status: fc.constantFrom<NonNullable<Pod['status']>>(
      {},
      { containerStatuses: [{ name: 'main', allocatedResources: { cpu: '2' } } as never] },
    ),
    generation: fc.nat(4),
    resize: fc.constantFrom(undefined, { generation: 1, since: 0, error: '', actuated: { main: {} } }),
    ended: fc.boolean(),
  }) as fc.Arbitrary<WithoutTime<AdmissionMessage>>,
  fc.record({
    type: fc.constantFrom('pod.removed' as const, 'pod.gone' as const),
    uid: names.map((name) => `uid-${name}`),
  }),
  fc.record({ type: fc.constant('pods.came' as const), ready: fc.boolean() }),
  fc.record({
    type: fc.constant('resizes.due' as const),
    trigger: fc.constantFrom('pods_removed' as const, 'pod_resized' as const, 'periodic_retry' as const),
    ready: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('room.made' as const),
    uid: names.map((name) => `uid-${name}`),
    ready: fc.boolean(),
  }),
  fc.constant({ type: 'sources.spoke' as const }),
);

/** The state as the beginning of a segment has it, read again. */
function written(state: AdmissionState): AdmissionState {
  const pods = new Map<string, Pod>();
  const refer = (one: Pod) => {
    const id = JSON.stringify(one);
    pods.set(id, one);
    return { $spec: id };
  };
  const { head, rows } = admission.write(state, refer);
  const text = JSON.stringify({ head, rows: [...rows] });
  const read = JSON.parse(text) as { head: object; rows: object[] };
  const podOf = ({ $spec }: { $spec: string }) => pods.get($spec) as Pod;
  const revived = admission.revive(read.head, read.rows, { settings: null, spec: (id) => pods.get(id), podOf });
  assert.ok(revived);
  return revived;
}

test('whatever comes: sums are right, who waits is there, and from each moment on it goes on as it would from its record', () => {
  fc.assert(
    fc.property(fc.array(anything, { minLength: 1, maxLength: 40 }), (messages) => {
      const told = new Told([], PREEMPTING);
      for (const message of messages) {
        const before = written(told.state);
        const frozen = JSON.stringify(told.state);
        const from = told.state;
        const orders = told.take(message);
        assert.equal(JSON.stringify(from), frozen, 'a step leaves the state before as it was');
        const again = stepAdmission(before, { ...message, at: told.at } as AdmissionMessage);
        assert.deepEqual(again.outputs, orders);
        assert.equal(admission.stateName(again.state), admission.stateName(told.state));
        const { usage, pods, waiting } = told.state;
        const shares = uidEntries(usage.shares);
        assert.equal(usage.pods, shares.length);
        assert.equal(
          usage.total.cpu,
          shares.reduce((sum, [, { resources }]) => sum + resources.cpu, 0),
        );
        for (const uid of waiting) assert.equal(atUid(pods, uid)?.terminal, false, uid);
        if (changesNothing(from, { ...message, at: told.at } as AdmissionMessage)) assert.equal(told.state, from);
      }
    }),
    { numRuns: 300 },
  );
});

test('a claim says as much as its pod of what it holds', () => {
  const whole = asking('a', '2');
  assert.deepEqual(usageOf([claimOf(whole)]), usageOf([whole]));
});
