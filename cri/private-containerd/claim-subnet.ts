import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from './run-command.ts';
import { chooseSubnet, overlaps, parseNetwork4 } from './subnet.ts';

/** After a collision each side waits a while of its own, ms, so that one of them is first the next time. */
const LONGEST_WAIT_MS = 200;

/**
 * Finds a subnet that is free on this machine and takes it, by making the bridge with its gateway address: of a network
 * that exists only in a file nobody else knows, and two agents that start at the same time would choose the same.
 * Throws RTM007 when none is free.
 */
export async function claimSubnet(bridge: string, preferred: string | undefined): Promise<string> {
  for (;;) {
    const subnet = chooseSubnet(await takenNetworks(bridge), preferred);
    await makeBridge(bridge, subnet);
    const others = await takenNetworks(bridge);
    if (!others.some((other) => sameNetwork(other, subnet))) return subnet;
    // Somebody took it in the same moment and sees us, too: both give way.
    await runCommand('ip', ['addr', 'flush', 'dev', bridge]);
    await sleep(randomInt(LONGEST_WAIT_MS));
  }
}

/** The first address of a subnet, which the bridge has: `10.88.0.1/20`. */
export function gatewayOf(subnet: string): string {
  return subnet.replace(/(?<!\d)(\d+)\/(\d+)$/, (_text, last: string, bits: string) => `${Number(last) + 1}/${bits}`);
}

/** Destinations of all IPv4 routes and addresses that are not on `ownDevice`. */
export async function takenNetworks(ownDevice: string): Promise<string[]> {
  const routes = await runCommand('ip', ['-4', '-j', 'route', 'show', 'table', 'all']);
  const out: string[] = [];
  for (const route of parseArray(routes.stdout)) {
    if (route['dev'] !== ownDevice && typeof route['dst'] === 'string') out.push(route['dst']);
  }
  return out;
}

/** What is there already stays: the bridge of an agent before, with its containers. */
async function makeBridge(bridge: string, subnet: string): Promise<void> {
  await runCommand('ip', ['link', 'add', bridge, 'type', 'bridge']);
  await runCommand('ip', ['addr', 'add', gatewayOf(subnet), 'dev', bridge]);
  await runCommand('ip', ['link', 'set', bridge, 'up']);
  await keepAddress(bridge);
}

/**
 * The bridge keeps the link address that it has. One that nobody gave it is the lowest of its ports', so that pods which come and go change it: the others
 * send to what was their gateway until they ask who it is, half a minute later. Once it is up: before, it would be without carrier as long as it has no port.
 */
async function keepAddress(bridge: string): Promise<void> {
  const shown = await runCommand('ip', ['-j', 'link', 'show', 'dev', bridge]);
  const address = parseArray(shown.stdout)[0]?.['address'];
  if (typeof address === 'string') await runCommand('ip', ['link', 'set', 'dev', bridge, 'address', address]);
}

function sameNetwork(a: string, b: string): boolean {
  const [one, other] = [parseNetwork4(a), parseNetwork4(b)];
  return one !== null && other !== null && one.bits > 0 && overlaps(one, other);
}

function parseArray(json: string): Record<string, unknown>[] {
  try {
    const value: unknown = JSON.parse(json);
    return Array.isArray(value)
      ? value.filter((v): v is Record<string, unknown> => typeof v === 'object' && v !== null)
      : [];
  } catch {
    return [];
  }
}
