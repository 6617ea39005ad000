import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { listDecoders } from '../../../cri/client/known-items.ts';
import { ListContainersResponse, ListPodSandboxResponse } from '../../../cri/generated/runtime/v1/api.ts';

const text = fc.string({ unit: 'binary', maxLength: 12 });
const labels = fc.dictionary(
  text.filter((key) => key !== '__proto__'),
  text,
  { maxKeys: 4 },
);
const item = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd'),
  state: fc.constantFrom(0 as const, 1 as const),
  labels,
});
/** Some lists one after the other, each whole or of a filter. */
const lists = fc.array(fc.record({ items: fc.array(item, { maxLength: 6 }), whole: fc.boolean() }), { maxLength: 6 });

test('each list reads as the contract has it, whatever was read before', () => {
  fc.assert(
    fc.property(lists, (all) => {
      const { listPodSandbox, listContainers } = listDecoders();
      for (const { items, whole } of all) {
        const sandboxes = ListPodSandboxResponse.encode(ListPodSandboxResponse.fromPartial({ items })).finish();
        assert.deepEqual(
          listPodSandbox?.(Buffer.from(sandboxes), whole),
          ListPodSandboxResponse.decode(sandboxes) as object,
        );
        const containers = ListContainersResponse.encode(
          ListContainersResponse.fromPartial({ containers: items }),
        ).finish();
        assert.deepEqual(
          listContainers?.(Buffer.from(containers), whole),
          ListContainersResponse.decode(containers) as object,
        );
      }
    }),
  );
});

/** The answer that holds containers of these ids and states. */
function answer(containers: { id: string; state: 0 | 1 }[]): Buffer {
  return Buffer.from(ListContainersResponse.encode(ListContainersResponse.fromPartial({ containers })).finish());
}

/** What a decoder makes of an answer. */
function read(bytes: Buffer, whole: boolean, decode = listDecoders().listContainers): readonly object[] {
  return (decode?.(bytes, whole) as ListContainersResponse).containers;
}

test('what has not changed is the same object in any order, what has is another, and a filter forgets nothing', () => {
  const { listContainers } = listDecoders();
  const [a, b] = read(answer([{ id: 'a', state: 1 }, { id: 'b', state: 1 }]), true, listContainers); // prettier-ignore
  assert.deepEqual(read(answer([{ id: 'b', state: 1 }]), false, listContainers), [b]);
  const later = read(answer([{ id: 'b', state: 0 }, { id: 'a', state: 1 }]), true, listContainers); // prettier-ignore
  assert.equal(later[1], a);
  assert.notEqual(later[0], b);
  read(answer([]), true, listContainers);
  assert.notEqual(read(answer([{ id: 'a', state: 1 }]), true, listContainers)[0], a, 'nobody keeps what is no more');
});

test('nobody can change what others read, fields of a later contract are left out, and a torn answer is an error', () => {
  const bytes = answer([{ id: 'a', state: 1 }]);
  const [container] = read(bytes, true) as [{ state: number }];
  assert.throws(() => (container.state = 2), TypeError);
  assert.deepEqual(read(Buffer.concat([Buffer.from([0x12, 1, 7]), bytes]), true), [container]);
  assert.throws(() => read(bytes.subarray(0, -1), true), RangeError);
});
