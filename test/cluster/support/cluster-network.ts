import { randomBytes, randomInt } from 'node:crypto';
import { takenNetworks } from '../../../cri/private-containerd/claim-subnet.ts';
import { overlaps, parseNetwork4 } from '../../../cri/private-containerd/subnet.ts';
import { runCommand } from '../../../cri/private-containerd/run-command.ts';

/** A bridge of the test's own: the machine (the API server) is `.1`, each node gets an address on it. */
export class ClusterNetwork {
  readonly bridge: string;
  /** First three octets. */
  readonly prefix: string;
  readonly hostAddress: string;
  private readonly tag: string;
  private last = 1;
  private readonly namespaces = new Map<string, string>();

  private constructor(tag: string, prefix: string) {
    this.tag = tag;
    this.bridge = `cl${tag}`;
    this.prefix = prefix;
    this.hostAddress = `${prefix}.1`;
  }

  static async make(): Promise<ClusterNetwork> {
    const taken = (await takenNetworks('')).flatMap((text) => {
      const network = parseNetwork4(text);
      return network === null || network.bits === 0 ? [] : [network];
    });
    // from anywhere: two clusters that start at the same time must not choose the same
    const from = randomInt(200);
    const third = Array.from({ length: 200 }, (_, i) => ((from + i) % 200) + 10).find((n) => {
      const wanted = parseNetwork4(`10.201.${n}.0/24`);
      return wanted !== null && !taken.some((network) => overlaps(network, wanted));
    });
    if (third === undefined) throw new Error('no 10.201.x.0/24 is free on this machine');
    const network = new ClusterNetwork(randomBytes(4).toString('hex'), `10.201.${third}`);
    await ip('link', 'add', network.bridge, 'type', 'bridge');
    try {
      await ip('addr', 'add', `${network.hostAddress}/24`, 'dev', network.bridge);
      await ip('link', 'set', network.bridge, 'up');
    } catch (error) {
      await network.remove();
      throw error;
    }
    return network;
  }

  /** A further address of the machine itself, for a node in the machine's own network namespace. */
  async addAddress(): Promise<string> {
    const address = this.next();
    await ip('addr', 'add', `${address}/32`, 'dev', this.bridge);
    return address;
  }

  /** A network namespace joined to the bridge, with a way out by it. */
  async addNamespace(name: string): Promise<{ address: string; path: string }> {
    const address = this.next();
    const netns = `${this.bridge}-${name}`;
    const outside = `v${this.tag}${this.last}`;
    await ip('netns', 'add', netns);
    this.namespaces.set(name, netns);
    await ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', 'node0', 'netns', netns);
    await ip('link', 'set', outside, 'master', this.bridge, 'up');
    await ip('-n', netns, 'addr', 'add', `${address}/24`, 'dev', 'node0');
    await ip('-n', netns, 'link', 'set', 'lo', 'up');
    await ip('-n', netns, 'link', 'set', 'node0', 'up');
    await ip('-n', netns, 'route', 'add', 'default', 'via', this.hostAddress);
    const path = `/run/netns/${netns}`;
    const forward = await runCommand('nsenter', [
      `--net=${path}`,
      'sh',
      '-c',
      'echo 1 > /proc/sys/net/ipv4/ip_forward',
    ]);
    if (forward.code !== 0) throw new Error(`ip_forward in ${netns}: ${forward.stderr}`);
    return { address, path };
  }

  /** Takes a namespace away with all devices and rules in it. */
  async removeNamespace(name: string): Promise<void> {
    const netns = this.namespaces.get(name);
    if (netns === undefined) return;
    this.namespaces.delete(name);
    await ip('netns', 'delete', netns);
  }

  async removeAddress(address: string): Promise<void> {
    await runCommand('ip', ['addr', 'del', `${address}/32`, 'dev', this.bridge]);
  }

  async remove(): Promise<void> {
    for (const name of this.namespaces.keys()) await this.removeNamespace(name);
    await runCommand('ip', ['link', 'delete', this.bridge]);
  }

  private next(): string {
    this.last++;
    return `${this.prefix}.${this.last}`;
  }
}

async function ip(...args: string[]): Promise<void> {
  const result = await runCommand('ip', args);
  if (result.code !== 0) throw new Error(`ip ${args.join(' ')}: ${result.stderr}`);
}
