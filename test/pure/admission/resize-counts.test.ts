import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { AdmissionMetrics } from '../../../actors/resources/admission/admission-metrics.ts';
import { ResizeCounts } from '../../../actors/resources/admission/admission-metrics.ts';
import type { AdmissionState } from '../../../machines/admission/admission-state.ts';
import { uidEntries, withoutUid, withUid } from '../../../machines/supervisor/uid-table.ts';

type Pods = AdmissionState['pods'];

/** The two gauges. */
class Gauges {
  readonly pending = new Map<string, number>();
  under = 0;

  get metrics(): AdmissionMetrics {
    return {
      pendingResizes: {
        reset: () => this.pending.clear(),
        set: ({ reason }: { reason: string }, n: number) => void this.pending.set(reason, n),
      },
      resizes: { set: (n: number) => void (this.under = n) },
    } as unknown as AdmissionMetrics;
  }
}

const pod = fc.record({
  resizing: fc.boolean(),
  pending: fc.option(fc.record({ reason: fc.constantFrom('Deferred', 'Infeasible') })),
});
/** A pod that changes, or one that goes; so few names that many stand in the same bucket at some time. */
const change = fc.record({ uid: fc.constantFrom('a', 'b', 'c', 'd', 'e'), pod: fc.option(pod) });

test('what is counted change by change is what a count of all pods gives', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const gauges = new Gauges();
      const counts = new ResizeCounts(gauges.metrics);
      let pods: Pods = {};
      for (const { uid, pod } of changes) {
        pods = pod === null ? withoutUid(pods, uid) : withUid(pods, uid, pod as unknown as Pods[string][string]);
        counts.count(pods);
        const all = uidEntries(pods).map(([, each]) => each);
        assert.equal(gauges.under, all.filter(({ resizing }) => resizing).length);
        for (const reason of ['deferred', 'infeasible']) {
          const waiting = all.filter(({ pending }) => pending?.reason.toLowerCase() === reason).length;
          assert.equal(gauges.pending.get(reason) ?? 0, waiting);
        }
      }
    }),
  );
});
