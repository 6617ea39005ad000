/** What a container gets of its pod's claims, and where that is told. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resourcesText } from '../../../bin/commands/resources.ts';
import { NO_CLAIMS } from '../../../machines/claims/claim-state.ts';
import type { ClaimDevice, ClaimState } from '../../../machines/claims/claim-state.ts';
import { cdiDevicesOf, usesClaims, withClaims } from '../../../machines/claims/container-claims.ts';
import { namedClaims } from '../../../machines/claims/pod-claims.ts';
import { podResources } from '../../../machines/pod-resources-api/pod-resources.ts';
import { resourceTable } from '../../../machines/pod-resources-api/resource-rows.ts';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';

const device = (name: string, requests: string[] = []): ClaimDevice => ({
  ...{ pool: 'pool', device: name, share: null, requests, cdi: [`x/y=${name}`] },
});
const state: ClaimState = {
  ...NO_CLAIMS,
  claims: {
    'ns/a': {
      ...{ uid: 'u-a', name: 'a', namespace: 'ns', pods: ['p'], prepared: true },
      drivers: { gpu: [device('one', ['big']), device('two', ['small']), device('all')], net: [device('nic')] },
    },
    'ns/ext': {
      ...{ uid: 'u-e', name: 'ext', namespace: 'ns', pods: ['p'], prepared: true },
      drivers: { gpu: [device('e1', ['r1']), device('e2', ['r2'])] },
    },
  },
};

function pod(container: Partial<Container>, status: object = {}): Pod {
  return {
    metadata: { name: 'n', namespace: 'ns', uid: 'p' },
    spec: {
      resourceClaims: [
        { name: 'mine', resourceClaimName: 'a' },
        { name: 'made', resourceClaimTemplateName: 't' },
      ],
      containers: [{ name: 'c', ...container }],
    },
    status: { resourceClaimStatuses: [{ name: 'made' }], ...status },
  };
}

const cdi = (of: Pod, extended = true): string[] =>
  cdiDevicesOf(state, of, of.spec?.containers[0] ?? { name: '' }, extended);

test('a container gets the devices of the claims that it names, or of one request', () => {
  assert.deepEqual(cdi(pod({})), []);
  const claims = (...of: { name: string; request?: string }[]) => cdi(pod({ resources: { claims: of } }));
  assert.deepEqual(claims({ name: 'mine' }), ['x/y=one', 'x/y=two', 'x/y=all', 'x/y=nic']);
  assert.deepEqual(claims({ name: 'mine', request: 'small' }), ['x/y=two', 'x/y=all', 'x/y=nic']);
  // None was made for it, on purpose.
  assert.deepEqual(claims({ name: 'made' }), []);
  const other = pod({ resources: { claims: [{ name: 'mine' }] } });
  const unknown = { message: 'internal error: unable to get claim info for ResourceClaim a' };
  assert.throws(() => cdiDevicesOf(NO_CLAIMS, other, other.spec?.containers[0] ?? { name: '' }, true), unknown);
});

test('extended resources that a driver gives come by the mapping of the scheduler, with the gate', () => {
  const extendedResourceClaimStatus = {
    resourceClaimName: 'ext',
    requestMappings: [{ containerName: 'c', resourceName: 'example.com/gpu', requestName: 'r2' }],
  };
  const amounts = { 'example.com/gpu': '1' };
  const wanted = pod({ resources: { requests: amounts, limits: amounts } }, { extendedResourceClaimStatus });
  assert.deepEqual(cdi(wanted), ['x/y=e2']);
  assert.deepEqual(cdi(wanted, false), []);
  assert.ok(usesClaims(wanted, wanted.spec?.containers[0] ?? { name: '' }));
  assert.deepEqual(namedClaims(wanted, true).at(-1), { podClaim: '', name: 'ext', ofPod: false });
  assert.deepEqual(
    cdi(pod({ resources: { requests: { 'example.com/gpu': '0' } } }, { extendedResourceClaimStatus })),
    [],
  );
});

test('a claim whose name is not known yet is told with the words of kubelet', () => {
  const early = pod({}, { resourceClaimStatuses: [] });
  assert.deepEqual(namedClaims(early, true)[1], {
    podClaim: 'made',
    problem: 'pod "ns/n": ResourceClaim not created yet',
  });
  const odd: Pod = { ...early, spec: { containers: [], resourceClaims: [{ name: 'o"dd' }] } };
  const problem = 'pod "ns/n", spec.resourceClaim "o\\"dd": none of the supported fields are set';
  assert.deepEqual(namedClaims(odd, true), [{ podClaim: 'o"dd', problem }]);
});

test("claims' devices come before those of plugins", () => {
  const options = { envs: [], mounts: [], devices: [], annotations: {}, cdiDevices: [{ name: 'p' }] };
  assert.deepEqual(withClaims(['c'], options)?.cdiDevices, [{ name: 'c' }, { name: 'p' }]);
  assert.equal(withClaims([], options), options);
  assert.deepEqual(withClaims(['c'], null)?.cdiDevices, [{ name: 'c' }]);
  assert.equal(withClaims([], null), null);
});

test('the pod-resources API and actorlet resources tell of claims', () => {
  const uses = pod({ resources: { claims: [{ name: 'mine' }] } });
  const none = { devices: null, resources: null, ground: null, active: new Set<string>() };
  const facts = { ...none, claims: state, extended: true };
  const [dynamic] = podResources(uses, facts).containers[0]?.dynamicResources ?? [];
  assert.equal(dynamic?.claimName, 'a');
  assert.deepEqual(
    dynamic?.claimResources.map(({ driverName, deviceName, cdiDevices }) => [driverName, deviceName, cdiDevices]),
    ['one', 'two', 'all', 'nic'].map((name) => [name === 'nic' ? 'net' : 'gpu', name, [{ name: `x/y=${name}` }]]),
  );
  const { 'ns/a': _gone, ...left } = state.claims;
  const both: Pod = {
    ...uses,
    spec: {
      resourceClaims: [
        { name: 'mine', resourceClaimName: 'a' },
        { name: 'shared', resourceClaimName: 'ext' },
      ],
      containers: [{ name: 'c', resources: { claims: [{ name: 'mine' }, { name: 'shared' }] } }],
    },
  };
  const told = (claims: ClaimState['claims']) =>
    podResources(both, { ...facts, claims: { ...state, claims } }).containers[0]?.dynamicResources.length;
  assert.deepEqual([told(state.claims), told(left)], [2, 0], 'all of a container’s claims, or none');
  const text = resourcesText(resourceTable({ ...facts, resources: null }, [uses]));
  assert.match(text, /ns\/n +c +- +- +claim a: gpu\/pool\/one, gpu\/pool\/two, gpu\/pool\/all, net\/pool\/nic/);
});
