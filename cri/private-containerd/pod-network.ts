import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { claimSubnet } from './claim-subnet.ts';
import type { ContainerdLayout } from './layout.ts';
import type { RuntimeLog } from './runtime-log.ts';

const IP_FORWARD = '/proc/sys/net/ipv4/ip_forward';

/**
 * Makes the bridge and writes the CNI network list of the private containerd, and switches IPv4 forwarding on, without which no packet
 * leaves the bridge. The subnet of an earlier start is kept unless another route of the machine now overlaps it.
 */
export async function preparePodNetwork(layout: ContainerdLayout, log: RuntimeLog): Promise<{ subnet: string }> {
  const subnet = await claimSubnet(layout.bridgeName, await earlierSubnet(layout.cniConflist));
  await mkdir(layout.cniConfDir, { recursive: true });
  await writeFile(layout.cniConflist, `${JSON.stringify(conflist(layout, subnet), null, 2)}\n`);
  await enableForwarding(log);
  return { subnet };
}

/** The CNI network list: bridge with masquerade and hairpin, host ports by portmap. containerd adds loopback itself. */
export function conflist(layout: ContainerdLayout, subnet: string): object {
  return {
    cniVersion: '0.4.0',
    name: layout.networkName,
    plugins: [
      {
        type: 'bridge',
        bridge: layout.bridgeName,
        isGateway: true,
        ipMasq: true,
        hairpinMode: true,
        ipam: {
          type: 'host-local',
          dataDir: layout.ipamDir,
          ranges: [[{ subnet }]],
          routes: [{ dst: '0.0.0.0/0' }],
        },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}

async function earlierSubnet(file: string): Promise<string | undefined> {
  try {
    return /"subnet":\s*"([^"]+)"/.exec(await readFile(file, 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}

async function enableForwarding(log: RuntimeLog): Promise<void> {
  try {
    if ((await readFile(IP_FORWARD, 'utf8')).trim() === '1') return;
    await writeFile(IP_FORWARD, '1');
    log.info({ file: IP_FORWARD }, 'Switched IPv4 forwarding on for the pod network');
  } catch (error) {
    log.warn({ err: error, file: IP_FORWARD }, 'Cannot switch IPv4 forwarding on: pods reach only this machine');
  }
}
