import type { DrawnPod } from './pod.ts';
import { Draws } from './draws.ts';

/** What happens to a pod while it runs: somebody changes it, or something of it dies. */
export type Action =
  | { kind: 'patch'; body: object }
  | { kind: 'exit'; container: string; code: number }
  | { kind: 'sandbox-dies' }
  | { kind: 'ephemeral'; body: object }
  | { kind: 'resize'; body: object }
  | { kind: 'delete'; options: object }
  /** Of a static pod: another manifest in the place of the first, or none for so many ms. */
  | { kind: 'manifest'; pod: DrawnPod }
  | { kind: 'away'; pod: DrawnPod; ms: number };

/** The CPU that a resize gives, as no container has it before; and what a runtime is told for it. */
const RESIZE = { requests: { cpu: '15m' }, limits: { cpu: '90m' } };
export const RESIZED = { cpuShares: '15', cpuQuota: '9000' };

/** What happens to this pod; null = nothing. */
export function drawnAction(seed: number, number: number, { spec }: DrawnPod): Action | null {
  const d = new Draws(seed, `action-${String(number)}`);
  if (!d.chance(0.5)) return null;
  const containers = spec['containers'] as { name: string }[];
  const name = d.one(containers).name;
  return d.one<() => Action>([
    () => ({ kind: 'patch', body: { spec: { containers: [{ name, image: 'registry.example/app:v1' }] } } }),
    () => ({ kind: 'patch', body: { metadata: { labels: { added: 'later' }, annotations: { added: 'later' } } } }),
    () => ({ kind: 'patch', body: { spec: { activeDeadlineSeconds: 25 } } }),
    () => ({ kind: 'exit', container: name, code: d.one([0, 1, 137]) }),
    () => ({ kind: 'exit', container: name, code: d.one([0, 1, 137]) }),
    () => ({ kind: 'sandbox-dies' }),
    () => ({
      kind: 'resize',
      body: { spec: { containers: [{ name, resources: RESIZE }] } },
    }),
    () => ({ kind: 'delete', options: d.one([{}, { gracePeriodSeconds: 0 }, { gracePeriodSeconds: 3 }]) }),
    () => ({
      kind: 'ephemeral',
      body: {
        spec: {
          ephemeralContainers: [
            { name: 'debug-0-ends', image: 'busybox', ...d.maybe(0.5, () => ({ targetContainerName: name })) },
          ],
        },
      },
    }),
  ])();
}
