import { admissionStateName, admissionWhy, stepAdmission } from '../../../machines/admission/admission-machine.ts';
import type { AdmissionMessage, AdmissionOrder } from '../../../machines/admission/admission-messages.ts';
import type { AdmissionState, AllocatedPod } from '../../../machines/admission/admission-state.ts';
import { NO_USAGE, withShare } from '../../../machines/admission/node-usage.ts';
import type { Share } from '../../../machines/admission/node-usage.ts';
import type { PodAllocation } from '../../../machines/resize/allocation.ts';
import { atUid, uidEntries, uidTable } from '../../../machines/supervisor/uid-table.ts';
import { journaled } from './journaled-machine.ts';
import type { Refer, SpecReference } from './journaled-machine.ts';

/** An `admission.snap` record: one pod. */
interface PodRow {
  t: {
    uid: string;
    share?: Share;
    pod?: Omit<AllocatedPod, 'desired'> & { desired: SpecReference };
    actuated?: PodAllocation;
  };
}

/**
 * Which pods the node takes, and what it has set aside for them. Pods are their claims in its messages: nothing that a secret
 * could stand in. What changes nothing is not told to it.
 */
export const admission = journaled<AdmissionState, AdmissionMessage, AdmissionOrder>({
  name: 'admission',
  step: (state, message) => stepAdmission(state, message),
  stateName: admissionStateName,
  why: admissionWhy,
  write: ({ usage: _usage, pods: _pods, actuated: _actuated, ...context }, refer) => ({
    head: { context },
    rows: podRows({ usage: _usage, pods: _pods, actuated: _actuated }, refer),
  }),
  revive: (head, rows, { podOf }) => {
    const { context } = head as { context: Omit<AdmissionState, 'usage' | 'pods' | 'actuated'> };
    const all = (rows as readonly PodRow[]).map(({ t }) => t);
    let usage = NO_USAGE;
    for (const { uid, share } of all) if (share !== undefined) usage = withShare(usage, uid, share);
    const pods = all.flatMap(({ uid, pod }): [string, AllocatedPod][] =>
      pod === undefined ? [] : [[uid, { ...pod, desired: podOf(pod.desired) }]],
    );
    const actuated = all.flatMap(({ uid, actuated: has }): [string, PodAllocation][] =>
      has === undefined ? [] : [[uid, has]],
    );
    return { ...context, usage, pods: uidTable(pods), actuated: uidTable(actuated) };
  },
  packMessage: (message, refer) => ('pod' in message ? { ...message, pod: refer(message.pod) } : message),
  unpackMessage: (raw, { podOf }) => {
    const { pod } = raw as { pod?: SpecReference };
    return (pod === undefined ? raw : { ...raw, pod: podOf(pod) }) as AdmissionMessage;
  },
});

/** One by one: the claim of each stands right before it. */
function* podRows(
  { usage: { shares }, pods, actuated }: Pick<AdmissionState, 'usage' | 'pods' | 'actuated'>,
  refer: Refer,
): Generator<PodRow> {
  const tables = [shares, pods, actuated].flatMap((table) => uidEntries<unknown>(table));
  for (const uid of new Set(tables.map(([key]) => key))) {
    const [share, pod, has] = [atUid(shares, uid), atUid(pods, uid), atUid(actuated, uid)];
    yield {
      t: {
        uid,
        ...(share && { share }),
        ...(pod && { pod: { ...pod, desired: refer(pod.desired) } }),
        ...(has && { actuated: has }),
      },
    };
  }
}
