import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeAttributes } from '../../../actors/serve/authz/node-attributes.ts';

const verbs = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete', HEAD: '', OPTIONS: '' };

/** Path -> subresources with KubeletFineGrainedAuthz and without. */
const paths: Record<string, [fine: string[], coarse: string[]]> = {
  '/pods': [['pods', 'proxy'], ['proxy']],
  '/pods/': [['pods', 'proxy'], ['proxy']],
  '/podsx': [['proxy'], ['proxy']],
  '/healthz': [['healthz', 'proxy'], ['proxy']],
  '/healthz/syncloop': [['healthz', 'proxy'], ['proxy']],
  '/configz': [['configz', 'proxy'], ['proxy']],
  '/runningpods/': [['pods', 'proxy'], ['proxy']],
  '/runningpods': [['pods', 'proxy'], ['proxy']],
  '/stats': [['stats'], ['stats']],
  '/stats/summary': [['stats'], ['stats']],
  '/statsx': [['proxy'], ['proxy']],
  '/metrics': [['metrics'], ['metrics']],
  '/metrics/cadvisor': [['metrics'], ['metrics']],
  '/metrics/resource': [['metrics'], ['metrics']],
  '/metrics/probes': [['metrics'], ['metrics']],
  '/metrics/slis': [['metrics'], ['metrics']],
  '/logs': [['log'], ['log']],
  '/logs/kubelet.log': [['log'], ['log']],
  '/checkpoint/ns/pod/c': [['checkpoint'], ['checkpoint']],
  '/statusz': [['statusz'], ['statusz']],
  '/flagz': [['configz'], ['configz']],
  '/run/ns/pod/c': [['proxy'], ['proxy']],
  '/exec/ns/pod/c': [['proxy'], ['proxy']],
  '/attach/ns/pod/c': [['proxy'], ['proxy']],
  '/portForward/ns/pod': [['proxy'], ['proxy']],
  '/containerLogs/ns/pod/c': [['proxy'], ['proxy']],
  '/debug/pprof/heap': [['proxy'], ['proxy']],
  '/debug/flags/v': [['proxy'], ['proxy']],
  '/': [['proxy'], ['proxy']],
  '/exec/metrics/metrics/c': [['proxy'], ['proxy']],
};

test('every path and method has the verb and the subresources of kubelet', () => {
  for (const [path, [fine, coarse]] of Object.entries(paths)) {
    for (const [method, verb] of Object.entries(verbs)) {
      assert.deepEqual(nodeAttributes(method, path, true), { verb, subresources: fine }, `${method} ${path}`);
      assert.deepEqual(nodeAttributes(method, path, false), { verb, subresources: coarse }, `${method} ${path}`);
    }
  }
});
