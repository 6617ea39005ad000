import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IdBlocks } from '../../../actors/host/userns/id-blocks.ts';
import { mappingsText, parseMappings } from '../../../actors/host/userns/user-namespaces.ts';
import { nodeIdRange } from '../../../actors/host/userns/node-id-range.ts';
import { sandboxConfig } from '../../../machines/sandbox-config/sandbox-config.ts';
import { nodeSettings } from '../qos/node-settings.ts';

const BLOCK = 65_536;

test('each pod gets a block of its own, never the first one, and a freed block is given out again', () => {
  const blocks = new IdBlocks({ first: BLOCK, length: 3 * BLOCK }, BLOCK, 3);
  assert.deepEqual(
    ['a', 'b', 'c'].map((pod) => blocks.allocate(pod)),
    [BLOCK, 2 * BLOCK, 3 * BLOCK],
  );
  assert.throws(() => blocks.allocate('d'), /could not find an empty slot to allocate a user namespace/);
  blocks.release('b');
  blocks.release('b');
  assert.equal(blocks.allocate('d'), 2 * BLOCK);
  assert.deepEqual([...blocks.holders()].sort(), ['a', 'c', 'd']);
});

test('what pods hold from before is noted; what cannot be theirs is refused', () => {
  const blocks = new IdBlocks({ first: BLOCK, length: 4 * BLOCK }, BLOCK, 2);
  blocks.record('a', 2 * BLOCK, BLOCK);
  blocks.record('a', 2 * BLOCK, BLOCK);
  assert.equal(blocks.of('a'), 2 * BLOCK);
  for (const [pod, first, length, text] of [
    ['a', 3 * BLOCK, BLOCK, 'different user namespace range already used by pod "a"'],
    ['b', 2 * BLOCK, BLOCK, 'range picked for pod "b" already taken'],
    ['b', 2 * BLOCK, 10, 'wrong user namespace length 10'],
    ['b', 5, BLOCK, 'wrong user namespace offset specified 5'],
    ['b', 9 * BLOCK, BLOCK, `id ${9 * BLOCK} is out of range`],
  ] as const)
    assert.throws(() => blocks.record(pod, first, length), { message: text });
  assert.deepEqual([blocks.allocate('b'), blocks.allocate('c')], [BLOCK, 3 * BLOCK]);
});

test('ranges that cannot serve the node', () => {
  for (const [first, length, pods, text] of [
    [BLOCK + 1, BLOCK, 1, /not a multiple/],
    [0, BLOCK, 1, /must be greater or equal to 65536/],
    [BLOCK, BLOCK + 1, 1, /length 65537 is not a multiple/],
    [BLOCK, 2 * BLOCK, 3, /not enough to support 3 pods/],
  ] as const)
    assert.throws(() => new IdBlocks({ first, length }, BLOCK, pods), text);
});

test("the pod's file is kubelet's", () => {
  const text = mappingsText(131_072, BLOCK);
  const mapping = '[{"hostId":131072,"containerId":0,"length":65536}]';
  assert.equal(text, `{"uidMappings":${mapping},"gidMappings":${mapping}}`);
  assert.deepEqual(parseMappings(text), { hostId: 131_072, length: BLOCK });
  assert.throws(() => parseMappings('nonsense'), /invalid user namespace mappings file: /);
  assert.throws(() => parseMappings('{"uidMappings":[],"gidMappings":[]}'), /no more than one mapping allowed/);
  assert.throws(() => parseMappings(text.replace('131072', '65536')), /should be identical/);
  assert.throws(() => parseMappings(text.replaceAll('"containerId":0', '"containerId":1')), /UID 0 must be mapped/);
});

test('the ids of user kubelet count where there is such a user and getsubids', async () => {
  const all = { first: BLOCK, length: 2 ** 32 - BLOCK };
  const ask = (passwd: string, uids: string | null, gids = uids) =>
    nodeIdRange(BLOCK, {
      passwd: () => Promise.resolve(passwd),
      subIds: (groups) => Promise.resolve(groups ? gids : uids),
    });
  const users = 'root:x:0:0::/:/bin/sh\nkubelet:x:998:998::/:/bin/false\n';
  const ids = '0: kubelet 131072 6553600\n';
  assert.deepEqual(await ask('root:x:0:0::/:/bin/sh\n', ids), all);
  assert.deepEqual(await ask(users, null), all);
  assert.deepEqual(await ask(users, ids), { first: 131_072, length: 6_553_600 });
  await assert.rejects(
    ask(users, ids, '0: kubelet 65536 65536\n'),
    /mismatched subuids and subgids for user "kubelet"/,
  );
  await assert.rejects(ask(users, ids + ids), /it must contain only one line/);
  await assert.rejects(ask(users, 'none'), /invalid line "none"/);
});

test('hostUsers decides whether the pod says anything of users at all', () => {
  const optionsOf = (hostUsers?: boolean) => {
    const pod = { metadata: { uid: 'u' }, spec: { containers: [], ...(hostUsers !== undefined && { hostUsers }) } };
    return sandboxConfig(pod, 0, nodeSettings()).linux.securityContext.namespaceOptions.usernsOptions;
  };
  assert.equal(optionsOf(), undefined);
  assert.deepEqual(optionsOf(true), { mode: 2, uids: [], gids: [] });
  assert.deepEqual(optionsOf(false), { mode: 0, uids: [], gids: [] });
});
