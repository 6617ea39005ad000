import { readdirSync, readFileSync } from 'node:fs';
import type * as PromClient from 'prom-client';
import { Counter, Gauge } from './prometheus.ts';

/** `Max ... unlimited` as Go's procfs writes it: the largest 64-bit number. */
const UNLIMITED = 2 ** 64;
const startedAt = Date.now() / 1000 - process.uptime();

/**
 * Registers `process_*` as Go's client tells it, and of `go_*` what has a likeness here: `go_threads` (threads of the
 * operating system) and `go_goroutines` (what the main thread's event loop has under way: connections, timers, requests).
 * All is read from /proc when it is asked for.
 */
export function collectProcess(registry: PromClient.Registry): void {
  const registers = [registry];
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  // The first one's `collect` sets them all: the registry asks in the order in which they came.
  const resident = new Gauge({
    ...{ name: 'process_resident_memory_bytes', help: 'Resident memory size in bytes.', registers },
    collect() {
      const status = readFileSync('/proc/self/status', 'latin1');
      // eslint-disable-next-line no-restricted-syntax -- names of fields, and the text is the kernel's
      const inStatus = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
      resident.set(inStatus('VmRSS') * 1024);
      virtual.set(inStatus('VmSize') * 1024);
      threads.set(inStatus('Threads'));
      const limits = readFileSync('/proc/self/limits', 'latin1');
      virtualMax.set(limitOf(limits, 'Max address space'));
      maxFds.set(limitOf(limits, 'Max open files'));
      openFds.set(readdirSync('/proc/self/fd').length - 1);
      const { inOctets, outOctets } = octets(readFileSync('/proc/self/net/netstat', 'latin1'));
      received.reset();
      received.inc(inOctets);
      sent.reset();
      sent.inc(outOctets);
    },
  });
  const virtual = gauge('process_virtual_memory_bytes', 'Virtual memory size in bytes.');
  const virtualMax = gauge('process_virtual_memory_max_bytes', 'Largest virtual memory that the process may have.');
  const openFds = gauge('process_open_fds', 'Files that the process has open.');
  const maxFds = gauge('process_max_fds', 'Files that the process may have open.');
  const threads = gauge('go_threads', 'Threads of the process.');
  const received = new Counter({
    ...{ name: 'process_network_receive_bytes_total', registers },
    help: "Bytes that the process's network namespace has received.",
  });
  const sent = new Counter({
    ...{ name: 'process_network_transmit_bytes_total', registers },
    help: "Bytes that the process's network namespace has sent.",
  });
  new Counter({
    ...{ name: 'process_cpu_seconds_total', help: 'CPU time that the process has taken.', registers },
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  collectStartTime(registry);
  new Gauge({
    ...{ name: 'go_goroutines', registers },
    help: 'What the main thread has under way: connections, timers, requests (in the place of goroutines).',
    collect() {
      this.set(process.getActiveResourcesInfo().length);
    },
  });
}

/** Registers `process_start_time_seconds`, which stands on each of kubelet's pages of metrics. */
export function collectStartTime(registry: PromClient.Registry): void {
  const base = { name: 'process_start_time_seconds', registers: [registry] };
  new Gauge({ ...base, help: 'Start time of the process since unix epoch in seconds.' }).set(processStart());
}

/** Seconds since the epoch, to a hundredth. */
export function processStart(): number {
  return Math.round(startedAt * 100) / 100;
}

function limitOf(limits: string, name: string): number {
  // eslint-disable-next-line no-restricted-syntax -- names of fields, and the text is the kernel's
  const soft = new RegExp(`^${name}\\s+(\\S+)`, 'm').exec(limits)?.[1] ?? '0';
  return soft === 'unlimited' ? UNLIMITED : Number(soft);
}

/** The line `IpExt:` with names comes before that with numbers. */
function octets(netstat: string): { inOctets: number; outOctets: number } {
  const [names = [], values = []] = [...netstat.matchAll(/^IpExt: (.*)$/gm)].map(([, line = '']) => line.split(' '));
  const of = (name: string) => Number(values[names.indexOf(name)] ?? 0);
  return { inOctets: of('InOctets'), outOctets: of('OutOctets') };
}
