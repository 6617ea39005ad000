import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from '../../../tools/wait-for.ts';
import type { Pod } from '../../support/api-objects.ts';
import { isReadyPod } from '../../support/seen-pods.ts';
import { NODE, WORK } from '../support/api-fixture.ts';
import type { ApiFixture } from '../support/api-fixture.ts';

/** Stats as far as they are looked at. */
interface Summary {
  node: { nodeName: string; memory: { workingSetBytes: number } };
  pods: { podRef: { name: string }; containers: { name: string; memory: { workingSetBytes?: number } }[] }[];
}

/** `kubectl get --raw` of the node's pages through the API server's proxy. */
export function pageScenarios(api: ApiFixture): void {
  test('the pages of a node through the proxy of the API server', async () => {
    const raw = (path: string) => api.space().kubectl('get', '--raw', `/api/v1/nodes/${NODE}/proxy/${path}`);
    const found = await api.space().waitPod(WORK, 'ready', isReadyPod);
    for (const path of ['pods', 'runningpods/']) {
      const list = JSON.parse(await raw(path)) as { kind: string; apiVersion: string; items: Pod[] };
      assert.deepEqual([list.kind, list.apiVersion], ['PodList', 'v1']);
      const pod = list.items.find((p) => p.metadata?.name === WORK);
      assert.equal(pod?.metadata?.uid, found.metadata?.uid, path);
      assert.deepEqual(pod?.spec?.containers.map((c) => c.name).sort(), ['echo', 'main']);
    }
    await waitFor('the stats of both containers', async () => {
      const summary = JSON.parse(await raw('stats/summary')) as Summary;
      assert.equal(summary.node.nodeName, NODE);
      assert.ok(summary.node.memory.workingSetBytes > 0);
      const stats = summary.pods.find((p) => p.podRef.name === WORK)?.containers ?? [];
      const known = stats.filter((c) => (c.memory.workingSetBytes ?? 0) > 0).map((c) => c.name);
      return known.sort().join(' ') === 'echo main' ? true : undefined;
    });
    for (const [path, series] of [
      ['metrics', /^kubelet_running_pods \d/m],
      ['metrics/cadvisor', /^container_memory_working_set_bytes\{.*container="echo".*pod="work".*\} \d/m],
      ['metrics/resource', /^container_cpu_usage_seconds_total\{.*pod="work".*\} \d/m],
      ['metrics/probes', /^process_start_time_seconds \d/m],
    ] as const) {
      // stats are taken from time to time
      await waitFor(`${String(series)} on /${path}`, async () => (series.test(await raw(path)) ? true : undefined));
    }
    const { kubeletconfig } = JSON.parse(await raw('configz')) as { kubeletconfig: Record<string, unknown> };
    assert.equal(kubeletconfig['containerLogMaxSize'], '200Ki');
    assert.equal(kubeletconfig['enableServer'], true);
    assert.equal(await raw('healthz'), 'ok');
    assert.match(await raw('healthz?verbose'), /^\[\+\]syncloop ok$/m);
    assert.match(await raw('logs/'), /<a href="containers\/">containers\/<\/a>/);
  });
}
