import type { SimScript } from '../../../cri/sim/script.ts';
import { Draws } from './draws.ts';

/** Calls that the runtime refuses now and then; those for images name no pod. */
const CALLS = [
  'RunPodSandbox',
  'CreateContainer',
  'StartContainer',
  'StopContainer',
  'RemoveContainer',
  'StopPodSandbox',
  'RemovePodSandbox',
  'PodSandboxStatus',
  'ContainerStatus',
];
const CODES = ['Unknown', 'Internal', 'Unavailable', 'ResourceExhausted'] as const;

/** The runtime refuses a call or two of some pods, the same for both agents: a rule for each pod that is hit. */
export function drawnFaults(seed: number, pods: number): NonNullable<SimScript['faults']> {
  return Array.from({ length: pods }, (_, number) => {
    const d = new Draws(seed, `faults-${String(number)}`);
    if (!d.chance(0.2)) return [];
    const rpc = d.one(CALLS);
    const fail = { code: d.one(CODES), message: `${rpc} is refused` };
    return [{ match: { pod: `p${String(number)}`, rpc }, fail, times: d.between(1, 2), per: 'container' as const }];
  }).flat();
}
