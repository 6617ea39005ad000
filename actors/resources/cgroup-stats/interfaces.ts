import { readSmall } from './small-files.ts';
import type { InterfaceReading } from './cgroup-reading.ts';

/** Starts of names that cAdvisor leaves out: loopback, and the host's ends of containers' links. */
const IGNORED = ['lo', 'veth', 'docker', 'nerdctl'];

/** Interfaces of the network namespace of a process, in the kernel's order; empty when the process is gone. */
export function readInterfaces(pid: number): InterfaceReading[] {
  return parseNetDev(readSmall(`/proc/${pid}/net/dev`) ?? '');
}

/** Parses `/proc/net/dev`: two lines of titles, then `name: 8 numbers received, 8 sent`. */
export function parseNetDev(text: string): InterfaceReading[] {
  const found: InterfaceReading[] = [];
  for (const line of text.split('\n').slice(2)) {
    const colon = line.lastIndexOf(':');
    if (colon < 0) continue;
    const name = line.slice(0, colon).trim();
    if (IGNORED.some((prefix) => name.toLowerCase().startsWith(prefix))) continue;
    const numbers = line
      .slice(colon + 1)
      .trim()
      .split(/\s+/)
      .map(Number);
    if (numbers.length !== 16 || numbers.some(Number.isNaN)) continue;
    const at = (index: number) => numbers[index] ?? 0;
    found.push({
      name,
      rxBytes: at(0),
      rxPackets: at(1),
      rxErrors: at(2),
      rxDropped: at(3),
      txBytes: at(8),
      txPackets: at(9),
      txErrors: at(10),
      txDropped: at(11),
    });
  }
  return found;
}
