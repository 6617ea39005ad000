import type { EvictionContext, EvictionMessage } from '../../../../machines/eviction/eviction-context.ts';
import { initialEviction } from '../../../../machines/eviction/eviction-context.ts';
import { decideEviction } from '../../../../machines/eviction/eviction-step.ts';
import type { PodUse } from '../../../../machines/eviction/pod-use.ts';
import { pressureReport } from '../../../../machines/pressure/pressure-report.ts';
import type { PressureReport } from '../../../../machines/pressure/pressure-report.ts';

const MI = 2 ** 20;
const GI = 2 ** 30;

/** What eviction tells of a node whose memory goes by 20 MiB/s into `story`, `sec` seconds after it was well. */
export function fakePressure(end: number, sec: number): PressureReport {
  let context: EvictionContext = initialEviction();
  const take = (message: EvictionMessage): void => {
    context = { ...context, ...decideEviction(context, message).patch };
  };
  const at = end - sec * 1_000;
  const thresholds = [
    { signal: 'memory.available' as const, value: { quantity: '1Gi' }, graceMs: 0 },
    { signal: 'memory.available' as const, value: { quantity: '2Gi' }, graceMs: 90_000 },
    { signal: 'nodefs.available' as const, value: { share: 0.1 }, graceMs: 0 },
  ];
  take({ type: 'eviction.start', at, settings: { thresholds, transitionMs: 300_000, maxPodGraceSeconds: 30 } });
  take({ type: 'eviction.disks', at, imageFs: false, splitFs: false });
  for (let i = 0; i <= sec; i += 10) {
    const now = at + i * 1_000;
    const seen = {
      'memory.available': { available: 8 * GI - i * 20 * MI, capacity: 16 * GI, at: now },
      'nodefs.available': { available: 41 * GI, capacity: 100 * GI, at: now },
    };
    const changed = [podUse('story', 2 * GI + i * 20 * MI, GI), podUse('moving', GI / 4, GI / 2), critical()];
    const spare = { images: { count: 12, bytes: 1.25 * GI }, containers: { count: 3 } };
    take({ type: 'eviction.sounded', at: now, seen, pods: { changed, gone: [], spare } });
  }
  return pressureReport(context, end);
}

function podUse(name: string, memory: number, asked: number): PodUse {
  const disk = {
    root: { bytes: 40 * MI, inodes: 900 },
    logs: { bytes: MI, inodes: 3 },
    volumes: { bytes: 0, inodes: 0 },
  };
  return {
    ...{ uid: name, namespace: 'default', name, priority: 0, asked: { memory: asked, storage: 0 } },
    takes: { memory, pids: 4, disk },
  };
}

function critical(): PodUse {
  return { ...podUse('core', 3 * GI, 0), priority: 2_000_001_000, critical: true };
}
