import { containerHash } from '../container-config/container-hash.ts';
import type { Container } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { amountsOf } from '../qos/resource-amounts.ts';
import type { ResourceList } from '../qos/resource-amounts.ts';
import { fnv32a } from '../values/hash.ts';
import type { BackOffEntry } from './back-off.ts';

type Settings = Pick<NodeSettings, 'behaviour'>;

/**
 * What a crash-loop back-off belongs to: a container with another image or other resources is not held back by what became of
 * the one before (kubelet `GetBackoffKey`).
 */
export function backOffKey(container: Container, settings: Settings): string {
  if (!behaves(settings, 'resizeEndsBackOff')) return containerHash(container);
  let key = keys.get(container);
  if (key === undefined) keys.set(container, (key = `${containerHash(container)}/${resourcesHash(container)}`));
  return key;
}

/** A remembered back-off; agents of before resources counted knew the container's hash only. */
export function rememberedBackOff<T extends BackOffEntry & { hash: string }>(
  remembered: T | undefined,
  container: Container,
  settings: Settings,
): T | undefined {
  if (remembered === undefined || remembered.hash !== containerHash(container)) return remembered;
  return { ...remembered, hash: backOffKey(container, settings) };
}

/** Made once for each definition: each step asks. */
const keys = new WeakMap<Container, string>();

function resourcesHash({ resources }: Container): string {
  const { requests, limits, claims = [] } = resources ?? {};
  return fnv32a(JSON.stringify([listed(requests), listed(limits), claims])).toString(16);
}

/** By value: `1000m` is `1`. */
function listed(list: ResourceList | undefined): string[] {
  return Object.entries(amountsOf(list))
    .map(([name, amount]) => `${name}=${amount}`)
    .sort();
}
