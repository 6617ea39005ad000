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
import type { MemoryBlock, MemoryGrant, MemoryState, MemoryTable, NodeMemory } from './memory-state.ts';

/** Name of the file in kubelet's root directory. */
export const MEMORY_CHECKPOINT = 'memory_manager_state';

type Entries = Record<string, Record<string, readonly MemoryBlock[]>>;

/** The text of `memory_manager_state`. A null state is that of policy `None`, which gives nothing away. */
export function memoryCheckpointText(state: MemoryState | null): string {
  const policyName = state === null ? 'None' : 'Static';
  const nodes = state?.nodes ?? [];
  const entries = entriesOf(state);
  const machineState = nodes
    .map(({ id, numberOfAssignments, memoryMap, cells }): [string, unknown] => {
      const tables = sortedEntries(memoryMap).map(([name, table]): [string, unknown] => [name, inOrder(table)]);
      return [String(id), { numberOfAssignments, memoryMap: Object.fromEntries(tables), cells }];
    })
    .sort(byKey);
  const some = Object.keys(entries).length > 0;
  return goJson({
    policyName,
    machineState: Object.fromEntries(machineState),
    ...(some && { entries }),
    checksum: checksumOf(policyName, nodes, entries),
  });
}

/**
 * What an agent or a kubelet before this one gave away; null with policy `None`.
 * @throws CheckpointError in kubelet's words
 */
export function readMemoryCheckpoint(text: string, policy: 'None' | 'Static'): MemoryState | null {
  const raw = checkpointJson(text);
  const policyName = checked(raw['policyName'] ?? '', isText, 'policyName');
  const nodes = Object.entries(checked(raw['machineState'] ?? {}, isObject, 'machineState')).map(([id, node]) =>
    nodeOf(id, checked(node, isObject, 'machineState')),
  );
  const entries: Entries = {};
  for (const [uid, pod] of Object.entries(checked(raw['entries'] ?? {}, isObject, 'entries'))) {
    const own = Object.entries(checked(pod, isObject, 'entries'));
    entries[uid] = Object.fromEntries(own.map(([name, blocks]) => [name, blocksOf(blocks)]));
  }
  const checksum = checked(raw['checksum'] ?? 0, isCount, 'checksum');
  if (checksum !== checksumOf(policyName, nodes, entries)) throw corrupted();
  if (policy !== policyName) {
    const other = `differs from state checkpoint policy ${JSON.stringify(policyName)}`;
    throw new CheckpointError(`[memorymanager] configured policy ${JSON.stringify(policy)} ${other}`);
  }
  if (policy === 'None') return null;
  const pods = Object.entries(entries).map(([uid, own]): [string, MemoryGrant[]] => [
    uid,
    Object.entries(own).map(([name, blocks]) => ({ name, blocks })),
  ]);
  return { nodes, pods: uidTable(pods.filter(([, own]) => own.length > 0)) };
}

function entriesOf(state: MemoryState | null): Entries {
  const entries: Entries = {};
  for (const [uid, grants] of uidEntries(state?.pods ?? {}).sort(byKey)) {
    const own = grants.map(({ name, blocks }): [string, MemoryBlock[]] => [
      name,
      blocks.map(({ numaAffinity, type, size }) => ({ numaAffinity, type, size })),
    ]);
    entries[uid] = Object.fromEntries(own.sort(byKey));
  }
  return entries;
}

function nodeOf(id: string, raw: Record<string, unknown>): NodeMemory {
  const memoryMap: Record<string, MemoryTable> = {};
  for (const [name, table] of Object.entries(checked(raw['memoryMap'] ?? {}, isObject, 'memoryMap'))) {
    const fields = checked(table, isObject, 'memoryMap');
    const count = (field: string): number => checked(fields[field] ?? 0, isCount, field);
    memoryMap[name] = {
      total: count('total'),
      systemReserved: count('systemReserved'),
      allocatable: count('allocatable'),
      reserved: count('reserved'),
      free: count('free'),
    };
  }
  return {
    id: checked(Number(id), isCount, 'machineState'),
    numberOfAssignments: checked(raw['numberOfAssignments'] ?? 0, isCount, 'numberOfAssignments'),
    memoryMap,
    cells: countsOf(raw['cells'], 'cells'),
  };
}

function blocksOf(raw: unknown): MemoryBlock[] {
  return checked(raw ?? [], Array.isArray, 'entries').map((block) => {
    const fields = checked(block, isObject, 'entries');
    return {
      numaAffinity: countsOf(fields['numaAffinity'], 'numaAffinity'),
      type: checked(fields['type'] ?? '', isText, 'type'),
      size: checked(fields['size'] ?? 0, isCount, 'size'),
    };
  });
}

function countsOf(raw: unknown, field: string): number[] {
  return checked(raw ?? [], Array.isArray, field).map((each) => checked(each, isCount, field));
}

function inOrder({ total, systemReserved, allocatable, reserved, free }: MemoryTable): MemoryTable {
  return { total, systemReserved, allocatable, reserved, free };
}

/** FNV-1a of the checkpoint as Go's debug printer shows it. */
function checksumOf(policyName: string, nodes: readonly NodeMemory[], entries: Entries): number {
  const machine = nodes
    .toSorted((a, b) => a.id - b.id)
    .map(({ id, numberOfAssignments, memoryMap, cells }) => {
      const tables = sortedEntries(memoryMap).map(([name, t]) => {
        const sizes = [
          `TotalMemSize:(uint64)${t.total}`,
          `SystemReserved:(uint64)${t.systemReserved}`,
          `Allocatable:(uint64)${t.allocatable}`,
          `Reserved:(uint64)${t.reserved}`,
          `Free:(uint64)${t.free}`,
        ];
        return `${name}:<*>{${sizes.join(' ')}}`;
      });
      const map = `(map[v1.ResourceName]*state.MemoryTable)map[${tables.join(' ')}]`;
      return `${id}:<*>{NumberOfAssignments:(int)${numberOfAssignments} MemoryMap:${map} Cells:([]int)[${cells.join(' ')}]}`;
    });
  const pods = sortedEntries(entries).map(([uid, own]) => {
    const containers = sortedEntries(own).map(([name, blocks]) => {
      const shown = blocks.map(
        ({ numaAffinity, type, size }) =>
          `{NUMAAffinity:([]int)[${numaAffinity.join(' ')}] Type:(v1.ResourceName)${type} Size:(uint64)${size}}`,
      );
      return `${name}:[${shown.join(' ')}]`;
    });
    return `${uid}:map[${containers.join(' ')}]`;
  });
  const fields = [
    `PolicyName:(string)${policyName}`,
    `MachineState:(state.NUMANodeMap)map[${machine.join(' ')}]`,
    `Entries:(state.ContainerMemoryAssignments)map[${pods.join(' ')}]`,
    'Checksum:(checksum.Checksum)0',
  ];
  return fnv32aOfBytes(`(*state.MemoryManagerCheckpoint){${fields.join(' ')}}`);
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}
