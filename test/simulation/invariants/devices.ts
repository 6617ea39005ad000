import type { DeviceState } from '../../../machines/devices/device-state.ts';
import { idsOf } from '../../../machines/devices/device-state.ts';
import { isTerminalPhase } from '../../../machines/status/phase.ts';
import { atUid, uidEntries } from '../../../machines/supervisor/uid-table.ts';
import type { ContainerRecord } from '../../../cri/sim/records.ts';
import { DEVICE_ANNOTATION } from '../world/plugins-edge.ts';
import { endedLives } from './book.ts';
import type { Rule, Say } from './rule.ts';

/** The devices that a container was made with, as `resource/id`. */
export function devicesOf({ config }: Pick<ContainerRecord, 'config'>): string[] {
  return Object.entries(config.annotations ?? {}).flatMap(([key, ids]) =>
    key.startsWith(DEVICE_ANNOTATION) ? ids.split(',').map((id) => `${key.slice(DEVICE_ANNOTATION.length)}/${id}`) : [],
  );
}

/** Devices are given as kubelet's device manager gives them. */
export const devicesAreOnesOwn: Rule = {
  name: 'no device is given twice or to nobody, a container keeps those that it was made with, and each comes back',
  source: 'kubelet device manager: allocatedDevices, podDevices and kubelet_internal_checkpoint; kubernetes#118559',
  begin: ({ world, say }) => {
    /** The last that an agent knew: a call of one that has died may still come to the runtime. */
    let state: DeviceState | null = null;
    /** What containers were made with, by `uid/name`. */
    const made = new Map<string, string>();
    return {
      on(fact) {
        const now = world.agent?.devices ?? state;
        if (now !== null && now !== state) onePodEach(now, say);
        state = now;
        const over = endedLives(fact, world);
        if (over !== null)
          for (const key of [...made.keys()]) if (over(key.slice(0, key.lastIndexOf('/')))) made.delete(key);
        if (fact.f !== 'container') return;
        const { name } = fact.record.metadata;
        const devices = devicesOf(fact.record).sort().join();
        if (fact.change === 'created') {
          const given = grantOf(state, fact.uid, name);
          if (given !== devices)
            say(`${fact.uid}/${name} has ${given || 'nothing'}, and is made with ${devices || 'nothing'}`);
          const before = made.get(`${fact.uid}/${name}`);
          if (before !== undefined && before !== devices)
            say(
              `${fact.uid}/${name} was made with ${before || 'nothing'} before, and now with ${devices || 'nothing'}`,
            );
          made.set(`${fact.uid}/${name}`, devices);
        }
        if (fact.change !== 'started' || devices === '') return;
        for (const other of world.runtime.core.containers.byId.values()) {
          if (other.state !== 1 || other.sandbox.metadata.uid === fact.uid) continue;
          const both = devicesOf(other).filter((id) => devices.split(',').includes(id));
          if (both.length > 0)
            say(`${both.join()} of ${other.sandbox.metadata.uid} is given to ${fact.uid}/${name}, too`);
        }
      },
      end() {
        const { agent } = world;
        if (agent?.devices == null) return;
        for (const [uid] of uidEntries(agent.devices.grants)) {
          const phase = agent.store.list().find(({ metadata }) => metadata?.uid === uid)?.status?.phase;
          if (!agent.tracks(uid) && (phase === undefined || isTerminalPhase(phase)))
            say(`${uid} is ${phase ?? 'gone'}, and still has devices`);
        }
      },
    };
  },
};

/** With patience nobody is refused for a plugin that comes back in time. */
export const pluginsAreAwaited: Rule = {
  name: 'a pod whose plugin comes back in time is not rejected for it',
  source: 'actorlet --wait-for-plugins; kubernetes#109595',
  begin: ({ world, say }) => ({
    on(fact) {
      if (fact.f !== 'report' || world.plan.node.waitForPluginsMs === undefined) return;
      const { reason, message = '' } = fact.report.status;
      if (reason !== 'UnexpectedAdmissionError') return;
      const excused = world.plan.faults.some(
        ({ kind, ...fault }) => kind === 'plugin' && 'how' in fault && EXCUSES.includes(String(fault.how)),
      );
      if (!excused) say(`${fact.uid} is rejected: ${message}`);
    },
  }),
};

/** An agent that starts leaves alone what runs. */
export const runningPodsStay: Rule = {
  name: 'a pod of which a container runs is not rejected for its devices',
  source: 'kubernetes#118559, #133382, #138446',
  begin: ({ world, say }) => ({
    on(fact) {
      if (fact.f !== 'report' || fact.report.status.reason !== 'UnexpectedAdmissionError') return;
      const { now } = world.time;
      // What runs is not known when the runtime does not say so for a minute.
      const deaf = world.plan.faults.some(
        (fault) =>
          DEAF.includes(fault.kind) && 'for' in fault && fault.from <= now && fault.from + fault.for >= now - 90_000,
      );
      const names = world.workload.planOf(fact.uid)?.spec.containers.map(({ name }) => name) ?? [];
      const running = [...world.runtime.core.containers.byId.values()].filter(
        ({ state, sandbox }) => state === 1 && sandbox.metadata.uid === fact.uid,
      );
      if (!deaf && names.some((name) => running.some(({ metadata }) => metadata.name === name)))
        say(`${fact.uid} runs, and is rejected: ${fact.report.status.message ?? ''}`);
    },
  }),
};

/** Faults by which the runtime does not say what runs. */
const DEAF = ['cri', 'runtime-restart', 'not-ready'];

/** Faults by which a plugin that is there gives nothing, or has too little. */
const EXCUSES = ['hang', 'fail', 'lost', 'slow', 'fewer', 'sick'];

function grantOf(state: DeviceState | null, uid: string, container: string): string {
  const of = atUid(state?.grants ?? {}, uid)?.[container] ?? {};
  return Object.entries(of)
    .flatMap(([resource, grant]) => idsOf(grant).map((id) => `${resource}/${id}`))
    .sort()
    .join();
}

function onePodEach({ grants }: DeviceState, say: Say): void {
  const owners = new Map<string, string>();
  for (const [uid, containers] of uidEntries(grants))
    for (const resources of Object.values(containers))
      for (const [resource, grant] of Object.entries(resources))
        for (const id of idsOf(grant)) {
          const other = owners.get(`${resource}/${id}`);
          if (other !== undefined && other !== uid) say(`${resource}/${id} is given to ${other} and to ${uid}`);
          owners.set(`${resource}/${id}`, uid);
        }
}
