import type { ContainerRecord, SandboxRecord } from '../../../cri/sim/records.ts';
import type { SimCore } from '../../../cri/sim/sim-core.ts';
import type { Fact } from './facts.ts';

/** By CRI's number of the state; an unknown one has ended as far as rules go. */
const CONTAINER_STATES: readonly ('created' | 'started' | 'exited')[] = ['created', 'started', 'exited'];

/** Tells each change of the runtime's containers and sandboxes, whoever made it. */
export function watchRecords({ containers, sandboxes }: SimCore, tell: (fact: Fact) => void): void {
  const container = (change: Extract<Fact, { f: 'container' }>['change'], record: ContainerRecord): void =>
    tell({ f: 'container', change, uid: record.sandbox.metadata.uid, record });
  const sandbox = (change: Extract<Fact, { f: 'sandbox' }>['change'], record: SandboxRecord): void =>
    tell({ f: 'sandbox', change, uid: record.metadata.uid, record });
  after<ContainerRecord>(containers, 'add', (record) => container('created', record));
  after<ContainerRecord>(containers, 'setState', (record) =>
    container(CONTAINER_STATES[record.state] ?? 'exited', record),
  );
  after<ContainerRecord>(containers, 'remove', (record) => container('removed', record));
  after<SandboxRecord>(sandboxes, 'add', (record) => sandbox('made', record));
  after<SandboxRecord>(sandboxes, 'setState', (record) => sandbox('down', record));
  after<SandboxRecord>(sandboxes, 'remove', (record) => sandbox('removed', record));
}

function after<R extends ContainerRecord | SandboxRecord>(
  index: object,
  method: 'add' | 'setState' | 'remove',
  then: (record: R) => void,
): void {
  const methods = index as Record<string, (record: R, state?: number) => void>;
  const original = methods[method]?.bind(index);
  methods[method] = (record, state) => {
    original?.(record, state);
    then(record);
  };
}
