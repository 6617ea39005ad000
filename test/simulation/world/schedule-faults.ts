import type { Plan } from '../draw/plan.ts';
import type { Agent } from './agent.ts';
import type { ApiEdge } from './api-edge.ts';
import type { FaultClock } from './fault-clock.ts';
import type { JournalDisk } from './journal-disk.ts';
import type { RuntimeEdge } from './runtime-edge.ts';
import type { VirtualTime } from './virtual-time.ts';
import type { Workload } from './workload.ts';

/** What faults of a moment happen to. */
export interface FaultHands {
  plan: Plan;
  time: VirtualTime;
  faults: FaultClock;
  workload: Workload;
  runtime: RuntimeEdge;
  api: ApiEdge;
  disk: JournalDisk;
  /** The living agent, null while there is none. */
  agent: () => Agent | null;
  /** The agent dies, and the next one begins so long after, ms. */
  crash: (how: { for: number; torn: boolean; journalLost: boolean }) => void;
  /** The machine goes down with all that runs, and comes up again. */
  goDown: () => void;
}

/** Has the faults of a plan that begin by themselves happen at their moments; the others strike what is called meanwhile ({@link FaultClock}). */
export function scheduleFaults(hands: FaultHands): void {
  const { plan, time, faults, workload, runtime, api, disk, agent, crash, goDown } = hands;
  const at = (ms: number, action: () => void): void => void time.after(ms, time.world, action, false);
  // A static pod that ends with its node begins anew with the next agent; of containers that may not start again the mirror pod keeps what it says.
  for (const fault of faults.all('shutdown'))
    at(fault.from, () => {
      for (const pod of plan.pods)
        if (pod.source !== 'api' && pod.spec.restartPolicy !== 'Always') workload.disturbed.add(pod.key);
    });
  for (const fault of faults.all('runtime-restart'))
    at(fault.from, () => {
      faults.count(fault);
      if (!fault.keepContainers) for (const key of workload.born) workload.disturbed.add(key);
      runtime.restart(fault.for, fault.keepContainers);
    });
  for (const fault of faults.all('power'))
    at(fault.from, () => {
      faults.count(fault);
      goDown();
    });
  for (const fault of faults.all('not-ready')) {
    const { readiness } = runtime.core;
    at(fault.from, () => {
      faults.count(fault);
      readiness.set(fault.condition, { reason: 'Simulated', message: 'not ready' });
    });
    at(fault.from + fault.for, () => readiness.set(fault.condition, undefined));
  }
  for (const fault of faults.all('events')) if (fault.how === 'off') at(fault.from, () => runtime.feed.cut());
  for (const fault of faults.all('stale-list')) {
    at(fault.from, () => api.lag(true));
    at(fault.from + fault.for, () => api.lag(false));
  }
  for (const fault of faults.all('watch'))
    at(fault.from, () => {
      faults.count(fault);
      api.endWatches(fault.how);
    });
  for (const fault of faults.all('api')) if (fault.how === 'down') at(fault.from, () => api.endWatches('cut'));
  for (const fault of faults.all('agent-crash'))
    at(fault.from, () => {
      faults.count(fault);
      crash(fault);
    });
  for (const fault of faults.all('agent-stop'))
    at(fault.from, () => {
      faults.count(fault);
      agent()?.tellEnd();
      crash({ for: fault.for, torn: false, journalLost: false });
    });
  for (const fault of faults.all('worker-crash'))
    at(fault.from, () => {
      faults.count(fault);
      agent()?.killWorker(fault.shard);
    });
  for (const fault of faults.all('clock'))
    at(fault.from, () => {
      faults.count(fault);
      time.wallOffset += fault.by;
    });
  for (const fault of faults.all('journal-full')) {
    at(fault.from, () => {
      faults.count(fault);
      disk.fill(true);
    });
    at(fault.from + fault.for, () => disk.fill(false));
  }
}
