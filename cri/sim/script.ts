import { z } from 'zod';
import { durationSchema, failureSchema, globsSchema, rangeSchema, windowSchema } from './script-values.ts';

const matchSchema = z
  .strictObject({
    rpc: globsSchema.optional(),
    namespace: globsSchema.optional(),
    pod: globsSchema.optional(),
    container: globsSchema.optional(),
    image: globsSchema.optional(),
    /** Labels of the pod, a glob for each value; all of them must fit. */
    labels: z.record(z.string(), z.string()).optional(),
  })
  .default({});

const exitSchema = z.strictObject({
  /** Since the container's start. */
  after: rangeSchema.default({ min: 0, max: 0 }),
  code: z.int().min(0).max(255).default(0),
  /** `Completed` or `Error` by the code when not given. */
  reason: z.string().optional(),
  message: z.string().default(''),
});

const endSchema = z.union([z.strictObject({ runs: z.literal(true) }), z.strictObject({ exit: exitSchema })]);

/** One try of a container: how it ends by itself; `runs: true` = it does not. */
const attemptSchema = z.union([
  ...endSchema.options,
  z.strictObject({
    /** It does what its command says, as far as the simulated programs go (`play/`). */
    plays: z.literal(true),
    /** For a command that is not among them. */
    otherwise: endSchema.default({ runs: true }),
  }),
  z.strictObject({ startError: z.string() }),
]);

const onStopSchema = z.union([
  z.literal('ignore'),
  z.strictObject({
    /** From the stop signal to the exit. */
    after: rangeSchema.default({ min: 0, max: 0 }),
    /** 128 + the signal's number when not given. */
    code: z.int().min(0).max(255).optional(),
  }),
]);

const logSchema = z.strictObject({
  at: durationSchema.default(0),
  text: z.string(),
  stream: z.enum(['stdout', 'stderr']).default('stdout'),
  /** Written again at this distance. */
  every: durationSchema.pipe(z.number().min(1, 'must be at least 1 ms')).optional(),
  /** How often at most; with `every` and without `times`, until the container ends. */
  times: z.int().min(1).optional(),
});

const execResultSchema = z.strictObject({
  code: z.int().min(0).max(255).default(0),
  stdout: z.string().default(''),
  stderr: z.string().default(''),
  takes: rangeSchema.default({ min: 0, max: 0 }),
  /** Calls this result is good for; the last result is good for ever. */
  times: z.int().min(1).default(1),
  /** Never ends by itself (the caller's timeout does). */
  hang: z.boolean().default(false),
  /** The call itself fails. */
  fail: failureSchema.optional(),
});

const execSchema = z.strictObject({
  /** Glob over the command's words joined by a space. */
  command: globsSchema.default(['*']),
  results: z.array(execResultSchema).min(1),
});

const containerSchema = z.strictObject({
  match: matchSchema,
  /** By `metadata.attempt`; the last one goes on. */
  attempts: z
    .array(attemptSchema)
    .min(1)
    .default([{ runs: true }]),
  onStop: onStopSchema.default({ after: { min: 0, max: 0 } }),
  logs: z.array(logSchema).default([]),
  exec: z.array(execSchema).default([]),
  /** What stats report while it runs. */
  usage: z
    .strictObject({ cpuNanoCores: z.int().min(0).default(1_000_000), memoryBytes: z.int().min(0).default(4_194_304) })
    .default({ cpuNanoCores: 1_000_000, memoryBytes: 4_194_304 }),
});

const sandboxSchema = z.strictObject({
  match: matchSchema,
  /** Since RunPodSandbox; the sandbox is then not ready. */
  diesAfter: rangeSchema.optional(),
  /** As with a shared pid namespace. */
  killsContainers: z.boolean().default(true),
});

const imageSchema = z.strictObject({
  /** Glob over the name as given or in full (`docker.io/library/busybox:latest`). A name without globs can be present. */
  image: globsSchema,
  present: z.boolean().default(false),
  sizeBytes: z.int().min(0).optional(),
  /** `USER` of the image: number or name. */
  user: z.string().default(''),
  /** `ENTRYPOINT` and `CMD` of the image, for containers that play their command. */
  entrypoint: z.array(z.string()).default([]),
  command: z.array(z.string()).default([]),
  pinned: z.boolean().default(false),
  pull: z
    .strictObject({
      takes: rangeSchema.optional(),
      fail: failureSchema.optional(),
      /** Only so many pulls fail; without it each does. */
      times: z.int().min(1).optional(),
    })
    .default({}),
});

const delaySchema = z.strictObject({ match: matchSchema, takes: rangeSchema });

const faultSchema = z
  .strictObject({
    match: matchSchema,
    fail: failureSchema.optional(),
    /** `forever`, or for how long. */
    hang: z.union([z.literal('forever'), durationSchema]).optional(),
    /** `before` the call has any effect, or `after` it: done, but the caller does not learn it. */
    phase: z.enum(['before', 'after']).default('before'),
    /** So many calls pass first. */
    skip: z.int().min(0).default(0),
    /** So many calls are hit; without it all are. */
    times: z.int().min(1).optional(),
    /** `skip` and `times` count for all calls together, or for each pod or container alone. */
    per: z.enum(['rule', 'pod', 'container']).default('rule'),
    probability: z.number().min(0).max(1).default(1),
    /** When the rule holds. */
    during: windowSchema.optional(),
  })
  .refine((rule) => (rule.fail === undefined) !== (rule.hang === undefined), 'needs exactly one of fail and hang');

const runtimeSchema = z.strictObject({
  name: z.string().default('actorlet-sim'),
  /** A semantic version. */
  version: z
    .string()
    .regex(/^v?\d+\.\d+\.\d+/, 'must be a semantic version')
    .default('0.1.0'),
  cgroupDriver: z.enum(['cgroupfs', 'systemd']).default('cgroupfs'),
  /** False: GetContainerEvents is Unimplemented, as in containerd 1.6. */
  supportsEvents: z.boolean().default(true),
  /** False: RuntimeConfig is Unimplemented. */
  supportsRuntimeConfig: z.boolean().default(true),
  /** False: UpdatePodSandboxResources is Unimplemented. */
  supportsPodResources: z.boolean().default(true),
  /** False: CheckpointContainer is Unimplemented. */
  supportsCheckpoint: z.boolean().default(true),
  handlers: z
    .array(
      z.strictObject({
        name: z.string(),
        recursiveReadOnlyMounts: z.boolean().default(true),
        userNamespaces: z.boolean().default(true),
      }),
    )
    .default([{ name: '', recursiveReadOnlyMounts: true, userNamespaces: true }]),
  supplementalGroupsPolicy: z.boolean().default(true),
  /** Ranges from which sandboxes get addresses, primary family first; an IPv6 range ends in `::/N`. */
  podCIDRs: z
    .array(
      z
        .string()
        .regex(
          /^(\d+\.\d+\.\d+\.\d+\/([89]|1\d|2\d|30)|[0-9a-fA-F:]+::\/\d+)$/,
          'must be as 10.88.0.0/16 (prefix 8 to 30) or fd00::/64',
        ),
    )
    .min(1)
    .max(2)
    .default(['10.88.0.0/16']),
  notReady: z
    .array(
      z.strictObject({
        condition: z.enum(['RuntimeReady', 'NetworkReady']),
        ...windowSchema.shape,
        reason: z.string().default('Simulated'),
        message: z.string().default('not ready by script'),
      }),
    )
    .default([]),
  /** The runtime itself goes away: connections drop, the socket is gone for `down`. */
  restarts: z
    .array(
      z.strictObject({
        at: durationSchema,
        down: durationSchema.default(1000),
        keepContainers: z.boolean().default(true),
      }),
    )
    .default([]),
  /** Event streams end with Unavailable and none opens. */
  eventsOff: z.array(windowSchema).default([]),
  imageFilesystem: z
    .strictObject({
      mountpoint: z.string().default('/var/lib/actorlet-sim/images'),
      inodesUsed: z.int().min(0).default(1000),
    })
    .default({ mountpoint: '/var/lib/actorlet-sim/images', inodesUsed: 1000 }),
});

const scriptSchema = z.strictObject({
  version: z.literal(1).default(1),
  /** Beaten by the seed the runtime is started with. */
  seed: z.int().min(0).max(0xffffffff).optional(),
  runtime: runtimeSchema.default(runtimeSchema.parse({})),
  /** In each list of rules the first that matches holds. */
  delays: z.array(delaySchema).default([]),
  /** Every matching rule is looked at; the first that hits holds. */
  faults: z.array(faultSchema).default([]),
  sandboxes: z.array(sandboxSchema).default([]),
  containers: z.array(containerSchema).default([]),
  images: z.array(imageSchema).default([]),
});

export { containerSchema, execSchema, faultSchema, matchSchema, scriptSchema };

/** A script as one writes it. */
export type SimScript = z.input<typeof scriptSchema>;
/** A script with every default filled in and durations in milliseconds. */
export type SimPlan = z.output<typeof scriptSchema>;
/** Globs by which a rule finds its calls, containers or images. */
export type SimMatch = z.output<typeof matchSchema>;
/** How a container behaves. */
export type ContainerBehaviour = z.output<typeof containerSchema>;
/** What becomes of a sandbox. */
export type SandboxBehaviour = z.output<typeof sandboxSchema>;
/** Answers to the commands run in a container. */
export type ExecBehaviour = z.output<typeof execSchema>;
/** One answer of {@link ExecBehaviour}. */
export type ExecResult = ExecBehaviour['results'][number];
/** What is known of images of a name. */
export type ImageBehaviour = z.output<typeof imageSchema>;
/** A failure or hang that is injected. */
export type FaultRule = z.output<typeof faultSchema>;
/** {@link FaultRule} as one writes it. */
export type FaultRuleInput = z.input<typeof faultSchema>;
/** {@link ExecBehaviour} with its match, as one writes it. */
export type ExecRuleInput = z.input<typeof execSchema> & { match?: z.input<typeof matchSchema> };
/** Node or network readiness over time. */
export type RuntimeSettings = z.output<typeof runtimeSchema>;
