import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explainFromJournal } from '../../../actors/inspect/explain/explain-from-journal.ts';
import { ENDS_BADLY } from '../agent/support/test-pod.ts';
import { evictingNode } from './support/evicting-node.ts';

/** Writes so many MiB, then runs on. */
const fills = (path: string, mib: number): string =>
  `dd if=/dev/zero of=${path} bs=1048576 count=${mib}; ${ENDS_BADLY}`;

describe('limits on local storage, on real containers', () => {
  // Nothing of the disk is short, whatever machine this is.
  const place = evictingNode(() => ({
    config: { volumeStatsAggPeriod: '2s', evictionHard: { 'nodefs.available': '1' } },
  }));

  it('ends who fills an emptyDir or a writable layer over its limit, and leaves the neighbours alone', async () => {
    const node = place();
    const spec = { volumes: [{ name: 'data', emptyDir: { sizeLimit: '5Mi' } }] };
    const limits = { 'ephemeral-storage': '5Mi' };
    node.put('volume-neighbour', fills('/data/file', 1), { spec });
    node.put('layer-neighbour', fills('/file', 1), { limits });
    const neighbours = ['volume-neighbour', 'layer-neighbour'];
    const before = await node.running(...neighbours);
    node.put('volume-filler', fills('/data/file', 20), { spec });
    node.put('layer-filler', fills('/file', 20), { limits });

    const volume = await node.evicted('volume-filler');
    assert.equal(volume.message, 'Usage of EmptyDir volume "data" exceeds the limit "5Mi". ');
    const layer = await node.evicted('layer-filler');
    assert.equal(layer.message, 'Pod ephemeral local storage usage exceeds the total limit of containers 5Mi. ');
    assert.deepEqual(
      neighbours.map((name) => node.life(name)),
      before,
    );

    const why = await explainFromJournal({
      pod: 'default/layer-filler',
      journals: [node.node.journalDir],
      now: Date.now(),
    });
    assert.ok(
      why.causes.some(({ text }) =>
        /^it was seen to use \d+\w* of local storage \(ephemeralpodfs\.limit\)$/.test(text),
      ),
    );
  });
});
