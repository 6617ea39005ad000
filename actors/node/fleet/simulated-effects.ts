import type { CriClient } from '../../../cri/client/cri-client.ts';
import type { Ask } from '../../../machines/protocol/ask.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { HostSettings } from '../../host/files/host-settings.ts';
import type { HostEffectType } from '../../host/effects/host-effects.ts';
import type { NetEffectType } from '../../pods/prober/net-effects.ts';
import { effectRunner, errorOf } from '../../pods/shard/effect-runner.ts';
import type { Outcome } from '../../pods/shard/effect-runner.ts';
import type { MemoryHost } from './memory-host.ts';
import type { ScriptedNetwork } from './scripted-network.ts';

/** Where effects of a simulated node go. */
export interface SimulatedEffects {
  cri: CriClient;
  host: MemoryHost;
  network: ScriptedNetwork;
  settings: Pick<HostSettings, 'rootDir' | 'log'>;
  now: () => number;
}

/** Carries out effects of pods: those of the runtime as everywhere, those of machine and network in memory. Never rejects. */
export function simulatedEffects(
  parts: SimulatedEffects,
  ask: Ask,
): (effect: Effect, podUid: string) => Promise<Outcome> {
  const { cri, host, network, settings, now } = parts;
  const ofRuntime = effectRunner({
    ...{ cri, now },
    // What else they have is for effects of the host, which do not come here.
    host: { ...settings, ask } as HostSettings,
    devicesOf: (params) => ask('devices.Get', params),
    onDone: () => undefined,
  });
  return async (effect, podUid) => {
    const { type, key, params } = effect;
    const ofHost = type.startsWith('host.');
    if (!ofHost && !type.startsWith('net.')) return ofRuntime(effect, podUid);
    const base = { effect: type, key };
    try {
      const result = ofHost
        ? await host.run(type as HostEffectType, params, ask)
        : await network.run(type as NetEffectType, key, params, podUid);
      return { type: 'effect.done', at: now(), ...base, result } as Outcome;
    } catch (error) {
      return { type: 'effect.failed', at: now(), ...base, error: errorOf(error) };
    }
  };
}
