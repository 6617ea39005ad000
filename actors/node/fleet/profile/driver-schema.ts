import { z } from 'zod';
import { rangeSchema } from '../../../../cri/sim/script-values.ts';
import { capacitySchema } from './capacity-schema.ts';
import { consumesSchema, counterSetsSchema, unknownCounters } from './counter-schema.ts';
import { MOST_DEVICES } from './device-schema.ts';
import { deviceTaintSchema, MOST_TAINTS } from './device-taint-schema.ts';
import { isLabel, isSubdomain } from './dns-names.ts';
import { wholeNumber } from './whole-number.ts';

/** Attributes and capacities of one device together (resource.k8s.io/v1 ResourceSliceMaxAttributesAndCapacitiesPerDevice). */
const MOST_FACTS = 32;
/** Of a driver's name (DriverNameMaxLength), and of a device's (a DNS label). */
const LONGEST_NAME = 63;

/** A C identifier of at most 32 letters, with a domain or without (resource.k8s.io/v1 QualifiedName). */
const FACT_NAME = /^([a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?\/)?[A-Za-z_][A-Za-z0-9_]{0,31}$/;

/** What a device is, by the names of its attributes or capacities. */
const factsSchema = <T extends z.ZodType>(value: T) =>
  z
    .record(z.string(), value)
    .prefault({})
    .superRefine((facts, { addIssue }) => {
      for (const name of Object.keys(facts))
        if (!FACT_NAME.test(name))
          addIssue({
            code: 'custom',
            path: [name],
            message: 'must be a name as model or example.com/model, of at most 32 letters, digits and "_"',
          });
    });

/** resource.k8s.io/v1 DeviceAttribute: one of string, int, bool and version, told apart by how they are written. */
const attributeSchema = z.union(
  [
    z
      .string()
      .max(64)
      .transform((string) => ({ string })),
    z.boolean().transform((bool) => ({ bool })),
    z.int().transform((int) => ({ int })),
    z.strictObject({
      version: z
        .string()
        .max(64)
        .regex(/^\d+\.\d+\.\d+([-+][-+.0-9A-Za-z]+)?$/, 'must be a version as 1.2.3'),
    }),
  ],
  'must be a text of at most 64 letters, true or false, a whole number, or { version: 1.2.3 }',
);

const driverDeviceSchema = z
  .strictObject({
    /** Devices are called `<name>-<number>`. */
    name: z
      .string()
      .refine(isLabel, 'must be a DNS label: lower case letters, digits and "-"')
      // Room for the number.
      .max(LONGEST_NAME - 4, `must have at most ${LONGEST_NAME - 4} letters`),
    count: wholeNumber(1, MOST_DEVICES),
    attributes: factsSchema(attributeSchema),
    capacity: factsSchema(capacitySchema),
    /** Several claims may have the same one, each a share of its capacity. */
    allowMultipleAllocations: z.boolean().default(false),
    /** Of what it is a part. */
    consumesCounters: consumesSchema,
    taints: z.array(deviceTaintSchema).max(MOST_TAINTS, `must be at most ${MOST_TAINTS}`).default([]),
  })
  .refine(({ attributes, capacity }) => Object.keys(attributes).length + Object.keys(capacity).length <= MOST_FACTS, {
    path: ['attributes'],
    error: `must be at most ${MOST_FACTS} together with \`capacity\``,
  })
  .superRefine(({ capacity, allowMultipleAllocations }, { addIssue }) => {
    if (allowMultipleAllocations) return;
    for (const [name, amount] of Object.entries(capacity))
      if ('requestPolicy' in amount)
        addIssue({
          ...{ code: 'custom', path: ['capacity', name, 'requestPolicy'] },
          message: 'goes with `allowMultipleAllocations: true` alone',
        });
  });

/** A driver of dynamic resources, which each node of the group runs. */
export const driverSchema = z
  .strictObject({
    driver: z
      .string()
      .max(LONGEST_NAME, `must have at most ${LONGEST_NAME} letters`)
      .refine(isSubdomain, 'must be a DNS subdomain as gpu.example.com'),
    devices: z
      .array(driverDeviceSchema)
      .min(1, 'must name at least one sort of devices')
      .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must name each sort once')
      .refine(
        (all) => all.reduce((sum, { count }) => sum + count, 0) <= MOST_DEVICES,
        `must be at most ${MOST_DEVICES} together`,
      ),
    /** What its devices are parts of. */
    sharedCounters: counterSetsSchema,
    /** So many of them are unhealthy from the beginning, and stay so. */
    unhealthy: wholeNumber(0, MOST_DEVICES).default(0),
    /** The driver taints its devices so while they are unhealthy; without it the scheduler does not hear of that. */
    taintsUnhealthy: deviceTaintSchema.optional(),
    /** How long the driver takes to prepare claims. */
    takes: rangeSchema.default({ min: 0, max: 0 }),
  })
  .refine(({ unhealthy, devices }) => unhealthy <= devices.reduce((sum, { count }) => sum + count, 0), {
    path: ['unhealthy'],
    error: 'must not be above the `count` of its devices',
  })
  .superRefine(({ devices, sharedCounters }, { addIssue }) => {
    for (const [i, { consumesCounters }] of devices.entries())
      for (const { path, message } of unknownCounters(sharedCounters, consumesCounters))
        addIssue({ code: 'custom', path: ['devices', i, 'consumesCounters', ...path], message });
  });

/** All drivers of a group. */
export const driversSchema = z
  .array(driverSchema)
  .default([])
  .refine((all) => new Set(all.map(({ driver }) => driver)).size === all.length, 'must name each driver once');

/** A driver with its devices. */
export type DriverRule = z.output<typeof driverSchema>;
