import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import type { ResourceRules } from '../../../machines/resource-managers/resource-ground.ts';
import { drawnMachine } from './drawn-machine.ts';
import type { DrawnMachine } from './drawn-machine.ts';

/** A line of the record: test/tools/resource-manager-vectors says what its words mean. */
export interface DrawnCase {
  machine: DrawnMachine;
  rules: {
    cpu?: boolean;
    cpuOptions?: Record<string, string>;
    reserved?: number;
    which?: string;
    memory?: boolean;
    reservedMiB?: number[];
    topology: ResourceRules['topology']['policy'];
    scope: 'container' | 'pod';
    topologyOptions?: Record<string, string>;
  };
  fails?: string;
  steps?: { pod?: DrawnPod; gone?: number; h?: string; g?: string[]; r?: [string, string]; a?: string }[];
  /** CPU and memory managers' checkpoints at the end. */
  files?: [cpu: string, memory: string];
}

/** Its pods: `c` its containers (`k` kind, `c` CPU, `m` MiB, `p` pages of 2 MiB), `b` burstable, `l` with resources of its own. */
export interface DrawnPod {
  c: { k?: string; c: string; m: number; p?: number }[];
  b?: boolean;
  l?: boolean;
}

/** All of the record. */
export function drawnCases(): DrawnCase[] {
  return gunzipSync(readFileSync(new URL('kubelet-vectors.jsonl.gz', import.meta.url)))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as DrawnCase);
}

/** What the case's node gives its CPUs and memory by. */
export function drawnRules({ machine, rules }: DrawnCase): ResourceRules {
  const mib = rules.reservedMiB ?? [];
  const total = mib.reduce((sum, each) => sum + each, 0);
  return {
    machine: drawnMachine(machine),
    cpu: {
      policy: rules.cpu ? 'static' : 'none',
      options: rules.cpuOptions ?? {},
      gates: { alpha: true, beta: true },
      reservedMilli: (rules.reserved ?? 0) * 1000,
      reserved: rules.which ?? '',
    },
    memory: {
      policy: rules.memory ? 'Static' : 'None',
      reservedMemory: mib.flatMap((each, node) => (each > 0 ? [{ node, limits: { memory: each * 2 ** 20 } }] : [])),
      whole: { memory: total * 2 ** 20 },
    },
    topology: { policy: rules.topology, scope: rules.scope, options: rules.topologyOptions ?? {} },
    reuseIsExact: true,
    podLevelResources: true,
    resizes: { cpu: false, memory: false },
    quotaOff: true,
    retryMs: 10_000,
  };
}

/** Bytes as the record writes them. */
export function inMiB(bytes: number): string {
  return bytes === 0 ? '0' : `${bytes / 2 ** 20}Mi`;
}

/** A pod of the case; `number`: which one, from 1. */
export function drawnPod({ c, b, l }: DrawnPod, number: number): Pod {
  const all = c.map(({ k, c: cpu, m, p }, i) => {
    const requests = { cpu, memory: `${m}Mi`, ...(p !== undefined && { 'hugepages-2Mi': `${2 * p}Mi` }) };
    const container: Container = { name: `c${i}`, resources: { requests, ...(!b && { limits: requests }) } };
    if (k === 'sidecar') container.restartPolicy = 'Always';
    return { init: k !== undefined, container };
  });
  const list = { cpu: '4', memory: '1Gi' };
  return {
    metadata: { uid: `uid-${number}`, name: `p${number}`, namespace: 'default' },
    spec: {
      initContainers: all.flatMap(({ init, container }) => (init ? [container] : [])),
      containers: all.flatMap(({ init, container }) => (init ? [] : [container])),
      ...(l && { resources: { requests: list, limits: list } }),
    },
  } as Pod;
}
