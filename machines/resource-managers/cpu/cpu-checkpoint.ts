import { goJson } from '../../container-config/go-json.ts';
import { uidEntries, uidTable } from '../../supervisor/uid-table.ts';
import { fnv32aOfBytes } from '../../values/hash.ts';
import { isObject } from '../../values/json-object.ts';
import {
  CheckpointError,
  checked,
  checkpointJson,
  corrupted,
  isCount,
  isText,
  sortedEntries,
} from '../../values/checkpoint-error.ts';
import type { CpuGrant, CpuState } from './cpu-book.ts';
import { CpuSetError, cpuSetText, parseCpuSetList } from './cpu-set.ts';

/** Name of the file in kubelet's root directory. */
export const CPU_CHECKPOINT = 'cpu_manager_state';

type Entries = Record<string, Record<string, string>>;

/** The text of `cpu_manager_state`. A null state is that of policy `none`, which gives nothing away. */
export function cpuCheckpointText(state: CpuState | null): string {
  const policyName = state === null ? 'none' : 'static';
  const defaultCpuSet = state?.shared ?? '';
  const entries: Entries = {};
  for (const [uid, grants] of uidEntries(state?.pods ?? {}).sort(byKey)) {
    entries[uid] = Object.fromEntries(grants.map(({ name, cpus }): [string, string] => [name, cpus]).sort(byKey));
  }
  const some = Object.keys(entries).length > 0;
  const checksum = checksumOf(policyName, defaultCpuSet, entries);
  return goJson({ policyName, defaultCpuSet, ...(some && { entries }), checksum });
}

/**
 * What an agent or a kubelet before this one gave away.
 * @throws CheckpointError in kubelet's words
 */
export function readCpuCheckpoint(text: string, policy: 'none' | 'static'): CpuState {
  const raw = checkpointJson(text);
  const policyName = checked(raw['policyName'] ?? '', isText, 'policyName');
  const defaultCpuSet = checked(raw['defaultCpuSet'] ?? '', isText, 'defaultCpuSet');
  const entries: Entries = {};
  for (const [uid, pod] of Object.entries(checked(raw['entries'] ?? {}, isObject, 'entries'))) {
    const own = Object.entries(checked(pod, isObject, 'entries'));
    entries[uid] = Object.fromEntries(own.map(([name, cpus]) => [name, checked(cpus, isText, 'entries')]));
  }
  const checksum = checked(raw['checksum'] ?? 0, isCount, 'checksum');
  // None is taken, too: files from before there were any.
  if (checksum !== 0 && checksum !== checksumOf(policyName, defaultCpuSet, entries)) throw corrupted();
  if (policy !== policyName) {
    const other = `differs from state checkpoint policy ${JSON.stringify(policyName)}`;
    throw new CheckpointError(`configured policy ${JSON.stringify(policy)} ${other}`);
  }
  const shared = listOf(defaultCpuSet, `could not parse default cpu set ${JSON.stringify(defaultCpuSet)}`);
  const pods = Object.entries(entries).map(([uid, own]): [string, CpuGrant[]] => [
    uid,
    Object.entries(own).map(([name, cpus]) => {
      const where = `for container ${JSON.stringify(name)} in pod ${JSON.stringify(uid)}`;
      return { name, cpus: listOf(cpus, `could not parse cpuset ${JSON.stringify(cpus)} ${where}`) };
    }),
  ]);
  return { shared, pods: uidTable(pods.filter(([, own]) => own.length > 0)) };
}

function listOf(text: string, problem: string): string {
  try {
    return cpuSetText(parseCpuSetList(text));
  } catch (error) {
    if (error instanceof CpuSetError) throw new CheckpointError(`${problem}: ${error.message}`);
    throw error;
  }
}

/** FNV-1a of the checkpoint as Go's debug printer shows it. */
function checksumOf(policyName: string, defaultCpuSet: string, entries: Entries): number {
  const pods = sortedEntries(entries).map(
    ([uid, own]) =>
      `${uid}:map[${sortedEntries(own)
        .map(([name, cpus]) => `${name}:${cpus}`)
        .join(' ')}]`,
  );
  const fields = [
    `PolicyName:(string)${policyName}`,
    `DefaultCPUSet:(string)${defaultCpuSet}`,
    `Entries:(map[string]map[string]string)map[${pods.join(' ')}]`,
    'Checksum:(checksum.Checksum)0',
  ];
  return fnv32aOfBytes(`(*state.CPUManagerCheckpoint){${fields.join(' ')}}`);
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}
