import type { MachinePlace } from '../../../machines/explain/machine-reasons.ts';
import { journalBatches, parseLine } from '../../record/journal/journal-reader.ts';
import { Playback } from '../../record/journal/playback.ts';
import { kindOf } from '../../record/journal/records.ts';
import type { AnyJournaled } from '../../record/machines/journaled-machine.ts';

/**
 * Where a machine that a node has one of was at a moment, by its records. What stands around a damaged line still tells.
 *
 * @param uid the name that it goes by among pods
 * @param until ms since the epoch; absent: as far as the journals go
 * @returns place null when there is no record of it until then; `newest`: the time of the last one
 */
export async function placeOfMachine(
  files: readonly string[],
  uid: string,
  machine: AnyJournaled,
  until = Number.POSITIVE_INFINITY,
): Promise<{ place: MachinePlace | null; newest: number }> {
  const playback = new Playback({ machines: [machine], follows: () => true, outcomes: false });
  const own = ['segment', 'snap', 'msg'].map((sort) => `{"r":"${kindOf(machine, sort as 'msg')}"`);
  const found = { place: null as MachinePlace | null, newest: 0 };
  const saw = (at: number, begins = false): void => {
    const state = playback.stateOf(machine, '');
    if (state === undefined || at > until) return;
    const { name } = machine;
    const [stateName, why] = [machine.stateName(state), machine.why(state)];
    // A beginning is told without its pieces: what was known of the same state before says more.
    if (begins && found.place?.state === stateName) return;
    const { since = at, startedAt = at } = found.place?.state === stateName ? found.place : {};
    found.place = { name, uid, state: stateName, since, why, startedAt: found.place?.startedAt ?? startedAt };
    found.newest = at;
  };
  for await (const { lines } of journalBatches(files)) {
    for (const text of lines) {
      // Pods' specs are what its messages may refer to.
      if (!text.startsWith('{"r":"spec"') && !own.some((start) => text.startsWith(start))) continue;
      try {
        const record = parseLine({ file: '', line: 0, text });
        if (record.t === 'msg') {
          if (record.raw.at <= until && playback.message(record) !== null) saw(record.raw.at);
        } else if (record.t !== 'segment' || record.at <= until) {
          playback.begin(record);
          if (record.t === 'segment') saw(record.at, true);
        }
      } catch {
        continue;
      }
    }
  }
  return found;
}
