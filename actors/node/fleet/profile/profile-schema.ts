import { z } from 'zod';
import { parseBytes, parseCpuMilli } from '../../../../machines/values/quantity.ts';
import { matchSchema, scriptSchema } from '../../../../cri/sim/script.ts';
import { durationSchema, globsSchema, rangeSchema } from '../../../../cri/sim/script-values.ts';
import { anyMatches } from '../../../../cri/sim/glob.ts';
import { devicesSchema } from './device-schema.ts';
import { isLabel } from './dns-names.ts';
import { driversSchema } from './driver-schema.ts';
import { failureSchema, struckBy } from './failure-schema.ts';
import { tooManyTaints } from './taint-count.ts';

const bytesSchema = z
  .union([z.number(), z.string()])
  .transform((value) => quantity(value, parseBytes))
  .refine((bytes) => bytes > 0, 'must be an amount of bytes as 512Mi, 8Gi, 1Ti');
const cpusSchema = z
  .union([z.number(), z.string()])
  .transform((value) => quantity(value, parseCpuMilli) / 1000)
  .refine((cpus) => Number.isInteger(cpus) && cpus > 0, 'must be a whole number of CPUs');
const coresSchema = z
  .union([z.number(), z.string()])
  .transform((value) => quantity(value, parseCpuMilli))
  .refine((milli) => milli >= 0, 'must be an amount of CPU as 250m or 1.5');
const usedBytesSchema = z
  .union([z.number(), z.string()])
  .transform((value) => quantity(value, parseBytes))
  .refine((bytes) => bytes >= 0, 'must be an amount of bytes as 64Mi');

const machineSchema = z
  .strictObject({
    cpus: cpusSchema.default(8),
    memory: bytesSchema.default(32 * 2 ** 30),
    /** Of the node's one file system, which holds images, logs and emptyDir volumes. */
    disk: bytesSchema.default(100 * 2 ** 30),
    /** `maxPods`. */
    pods: z.int().min(1).max(5000).default(110),
    osImage: z.string().default('Simulated Linux'),
    kernelVersion: z.string().default('6.12.0-simulated'),
    architecture: z.string().default('amd64'),
    /** NUMA nodes, among which CPUs and memory are shared out evenly; CPU, memory and topology manager go by them. */
    numa: z.int().min(1).max(8).optional(),
  })
  .refine(({ numa, cpus }) => numa === undefined || cpus % numa === 0, {
    path: ['numa'],
    error: 'must divide `cpus`, from 1 to 8',
  });

const taintSchema = z.strictObject({
  key: z.string().min(1),
  value: z.string().default(''),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
});

const groupSchema = z.strictObject({
  /** Nodes are called `<name>-<number>`. */
  name: z.string().max(50).refine(isLabel, 'must be a DNS label: lower case letters, digits and "-"'),
  /** So many of the nodes, by weight, when `count` says nothing. */
  weight: z.number().positive().default(1),
  /** So many nodes, whatever `--count` says of the rest. */
  count: z.int().min(0).max(100_000).optional(),
  machine: machineSchema.default(machineSchema.parse({})),
  region: z.string().optional(),
  /** The nodes take turns. */
  zones: z.array(z.string().min(1)).min(1).optional(),
  labels: z.record(z.string(), z.string()).default({}),
  taints: z.array(taintSchema).default([]),
  /** What device plugins of each node give. */
  devices: devicesSchema,
  /** Drivers of dynamic resources (claims) of each node. */
  drivers: driversSchema,
});

/** What an answer over the network is. */
const answerSchema = z.strictObject({
  /** HTTP status, or the gRPC status: 200 to 399 is SERVING. Null: the port refuses connections. */
  status: z.int().min(100).max(599).nullable().default(200),
  body: z.string().default('ok'),
  takes: durationSchema.default(1),
  /** Never answers: the probe's own timeout ends it. */
  hang: z.boolean().default(false),
});

/** Answers to HTTP, TCP and gRPC probes and to HTTP hooks. The first rule that fits holds. */
const probeSchema = z.strictObject({
  match: matchSchema,
  kind: z.array(z.enum(['readiness', 'liveness', 'startup', 'hook'])).optional(),
  path: globsSchema.optional(),
  /** By the time since the container's start; the last that has begun holds. */
  answers: z
    .array(z.strictObject({ from: durationSchema.default(0), ...answerSchema.shape }))
    .min(1)
    .refine(inOrder, 'each `from` must be later than the one before'),
});

const curveSchema = (amount: typeof coresSchema | typeof usedBytesSchema) =>
  z.strictObject({
    /** What it uses all the time. */
    base: amount.default(0),
    /** And on top of that, at the most, in waves: a sine of `period`. */
    wave: amount.default(0),
    period: durationSchema.pipe(z.number().min(1000, 'must be at least 1s')).default(600_000),
    /** More for each minute that the container runs. */
    grows: amount.default(0),
    most: amount.optional(),
  });

/** What containers use, for metrics and eviction. The first rule that fits holds. */
const usageSchema = z.strictObject({
  match: matchSchema,
  cpu: curveSchema(coresSchema).default({ base: 1, wave: 0, period: 600_000, grows: 0 }),
  memory: curveSchema(usedBytesSchema).default({ base: 4 * 2 ** 20, wave: 0, period: 600_000, grows: 0 }),
  disk: curveSchema(usedBytesSchema).default({ base: 4096, wave: 0, period: 600_000, grows: 0 }),
});

/** The profile file of `actorlet nodes`. */
export const profileSchema = z
  .strictObject({
    version: z.literal(1).default(1),
    /** Beaten by `--seed`. */
    seed: z.int().min(0).max(0xffffffff).optional(),
    groups: z
      .array(groupSchema)
      .min(1)
      .default([groupSchema.parse({ name: 'node' })])
      .refine(
        (groups) => new Set(groups.map(({ name }) => name)).size === groups.length,
        'two groups have the same name',
      ),
    /** Addresses of pods: each node takes a /24 out of it. */
    podCIDR: z
      .string()
      .refine((cidr) => isWideRange(cidr), 'must be as 10.128.0.0/9 (prefix 8 to 24)')
      .default('10.128.0.0/9'),
    /** The runtime of every node (docs/simulated-runtime.md): images, delays, containers, sandboxes, faults. */
    runtime: scriptSchema.default(scriptSchema.parse({})),
    /** For containers of which `runtime.containers` says nothing: those that are to end do, all others run. */
    ends: z
      .strictObject({
        /** How long init containers run. */
        init: rangeSchema.default({ min: 200, max: 1000 }),
        /** How long containers run whose pod's restartPolicy is not Always. */
        job: rangeSchema.default({ min: 1000, max: 5000 }),
      })
      .default({ init: { min: 200, max: 1000 }, job: { min: 1000, max: 5000 } }),
    probes: z.array(probeSchema).default([]),
    usage: z.array(usageSchema).default([]),
    failures: z.array(failureSchema).default([]),
    /** Ask for tokens of service accounts as kubelet does; simulated containers read them with `files` only. */
    tokens: z.boolean().default(false),
    /**
     * Volumes, `/etc/hosts` and termination messages are real files below the root directory, for containers that play their command.
     * Needs root: some are mounts, and all have owners.
     */
    files: z.boolean().default(false),
  })
  .superRefine(({ groups, failures }, { addIssue }) => {
    const names = {
      devices: [...new Set(groups.flatMap(({ devices }) => devices.map(({ resource }) => resource)))],
      drivers: [...new Set(groups.flatMap(({ drivers }) => drivers.map(({ driver }) => driver)))],
    };
    for (const [i, { does, resource, driver }] of failures.entries()) {
      const what = struckBy(does);
      const globs = resource ?? driver;
      if (what === null || names[what].some((name) => anyMatches(globs, name))) continue;
      const named = resource === undefined ? 'driver' : 'resource';
      addIssue({
        code: 'custom',
        path: ['failures', i, globs === undefined ? 'does' : named],
        message: `strikes no ${what}: ${names[what].length === 0 ? 'no group has any' : `groups have ${names[what].join(', ')}`}`,
      });
    }
    for (const { path, message } of tooManyTaints(groups, failures)) addIssue({ code: 'custom', path, message });
  });

/** A profile as one writes it. */
export type ProfileInput = z.input<typeof profileSchema>;
/** A profile with every default filled in; times in ms, CPU in milli-CPUs, the rest in bytes. */
export type Profile = z.output<typeof profileSchema>;
/** Nodes of one sort. */
export type NodeGroup = Profile['groups'][number];
/** Answers to probes. */
export type ProbeRule = Profile['probes'][number];
/** An amount over time. */
export type Curve = Profile['usage'][number]['cpu'];
/** What containers use. */
export type UsageRule = Profile['usage'][number];

function quantity(value: number | string, parse: (text: string) => number): number {
  try {
    return parse(String(value));
  } catch {
    return Number.NaN;
  }
}

function isWideRange(cidr: string): boolean {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.0\/(\d{1,2})$/.exec(cidr);
  if (parts === null) return false;
  const [, ...numbers] = parts.map(Number);
  const prefix = numbers.pop() ?? 0;
  return numbers.every((number) => number < 256) && prefix >= 8 && prefix <= 24;
}

function inOrder(steps: readonly { from: number }[]): boolean {
  return steps.every(({ from }, i) => i === 0 || from > (steps[i - 1]?.from ?? 0));
}
