import type { PodContext, PodSnapshot } from '../../../machines/pod/pod-context.ts';
import { bornPod, podState, restoredPod, stepPod } from '../../../machines/pod/pod-step.ts';
import { effectsText, isEffectsText } from '../../../machines/pod/status-text.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import { journaled } from './journaled-machine.ts';
import type { SpecReference } from './journaled-machine.ts';

/** A `snap` record. */
interface PodRow {
  spec: string;
  source: PodContext['source'];
  value: unknown;
  context: object;
}

/** The pods, one machine each, in the logs of their shards. */
export const pods = journaled<PodSnapshot, PodMessage, Effect>({
  name: 'pods',
  prefix: '',
  folder: '',
  many: true,
  output: { word: 'effect', field: 'e' },
  step: (from, message) => {
    const { snapshot, effects } = stepPod(from, message);
    return { state: snapshot, outputs: effects };
  },
  stateName: podState,
  label: ({ context: { pod } }) => `${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`,
  write: ({ value, context: { pod, settings: _settings, ...context } }, refer) => {
    const { $spec: spec } = refer(pod);
    return { head: {}, rows: [{ source: context.source, spec, value, context }] };
  },
  revive: (_head, [row], { settings, spec }) => {
    const { spec: id, source, value, context } = row as PodRow;
    const pod = spec(id);
    if (pod === undefined || settings === null) return null;
    return restoredPod(value, { source, ...context, pod, settings } as PodContext);
  },
  born: (message, settings) => {
    if (message.type !== 'pod.start' || settings === null) return null;
    return bornPod({ pod: message.pod, source: message.source, settings });
  },
  packMessage: (message, refer) => ('pod' in message ? { ...message, pod: refer(message.pod) } : message),
  unpackMessage: (raw, { podOf }) => {
    const reference = (raw as { pod?: Partial<SpecReference> }).pod;
    if (reference?.$spec === undefined) return raw as PodMessage;
    return { ...raw, pod: podOf({ $spec: reference.$spec }) } as unknown as PodMessage;
  },
  outputsText: (effects) => effectsText(effects as readonly Effect[]),
  isOutputsText: (effects, text, start, end) => isEffectsText(effects as readonly Effect[], text, start, end),
});
