import { z } from 'zod';
import { rangeSchema } from '../../../../cri/sim/script-values.ts';
import { isExtendedResource } from '../../../../machines/values/extended-resource.ts';
import { wholeNumber } from './whole-number.ts';

/** Of one plugin or driver: as many as a node has room for in its status; kubelet's own limit is the size of a message. */
export const MOST_DEVICES = 1_000;

/** The devices of one resource, which a device plugin of each node of the group gives. */
export const deviceSchema = z
  .strictObject({
    resource: z
      .string()
      .refine(isDeviceName, 'must be an extended resource as example.com/gpu, and none of kubernetes.io'),
    count: wholeNumber(1, MOST_DEVICES),
    /** NUMA nodes that they lie at, in turns; without it the plugin does not say. */
    numa: z.array(wholeNumber(0, 63)).min(1, 'must name at least one NUMA node').optional(),
    /** So many are unhealthy from the beginning, and stay so. */
    unhealthy: wholeNumber(0, MOST_DEVICES).default(0),
    /** Variable in which a container finds the ids of its devices, with commas; by the resource's name without it. */
    env: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of a variable as NVIDIA_VISIBLE_DEVICES')
      .optional(),
    /** Annotations of containers that have some, beside the one that is called as the resource and has the ids. */
    annotations: z.record(z.string(), z.string()).default({}),
    /** How long the plugin takes to give some to a container. */
    takes: rangeSchema.default({ min: 0, max: 0 }),
  })
  .refine(({ unhealthy, count }) => unhealthy <= count, {
    path: ['unhealthy'],
    error: 'must not be above `count`',
  });

/** All devices of a group: one plugin for each resource. */
export const devicesSchema = z
  .array(deviceSchema)
  .default([])
  .refine(
    (all) => new Set(all.map(({ resource }) => resource)).size === all.length,
    'must name each resource once: a resource has one plugin',
  );

/** The devices of one resource. */
export type DeviceRule = z.output<typeof deviceSchema>;

/** As a device plugin may register (kubelet: IsExtendedResourceName), and as the API server takes it in a node's status. */
function isDeviceName(name: string): boolean {
  const [domain = '', rest = '', ...more] = name.split('/');
  const isDomain = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(domain) && domain.length <= 253;
  const isName = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(rest) && rest.length <= 63;
  return more.length === 0 && isDomain && isName && isExtendedResource(name);
}
