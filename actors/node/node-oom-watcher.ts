import { join } from 'node:path';
import { nodeNamed } from '../../machines/protocol/recorded-event.ts';
import type { Clock } from '../host/time/clock.ts';
import { inUserNamespace } from '../host/userns/in-user-namespace.ts';
import { readText } from '../resources/machine/node-facts.ts';
import { OomWatcher } from '../resources/oom/oom-watcher.ts';
import { ToldOoms } from '../resources/oom/told-ooms.ts';
import type { HostLinks } from './edges.ts';
import type { Part } from './lifecycle.ts';
import type { NodeGround } from './node-ground.ts';

/** Watches the kernel's log for killings that nobody's limit is the reason of. */
export function nodeOomWatcher(
  { rootDir, featureGates, settings, log }: NodeGround,
  { record }: Pick<HostLinks, 'record'>,
  clock: Clock,
): Part {
  const object = nodeNamed(settings.nodeName);
  const boot = readText('/proc/sys/kernel/random/boot_id').trim();
  const watcher = new OomWatcher({
    ...{ clock, log, inUserNamespace: inUserNamespace() },
    record: (event) => record({ object, at: clock.now(), ...event }),
    told: new ToldOoms(join(rootDir, 'oom_watcher_state'), boot, log),
    mayLackLog: featureGates.enabled('KubeletInUserNamespace'),
  });
  return { name: 'OOM watcher', phase: 'work', start: () => watcher.start(), stop: () => watcher.stop() };
}
