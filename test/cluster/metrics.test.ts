import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { withCluster } from './support/cluster-fixture.ts';
import { familiesOf, samplesOf } from './support/metric-families.ts';
import type { Family } from './support/metric-families.ts';
import { differencesOf } from './support/metrics-document.ts';
import type { ServedFamilies } from './support/metrics-document.ts';
import { furnishNode, METRIC_PAGES, SCENARIO_CONFIG, scrapeNode } from './support/metrics-scenario.ts';
import type { MetricPage, Scrape } from './support/metrics-scenario.ts';
import { MIXIN_SERIES } from './support/mixin-series.ts';
import { agentUnderTest } from './support/node-config.ts';

const NODE = 'meter';
let scrape: Scrape | undefined;

withCluster({
  nodes: [{ name: NODE, config: SCENARIO_CONFIG }],
  furnish: async (cluster) => {
    await furnishNode(cluster.plane(), cluster.node(NODE), await cluster.space('metrics'));
    scrape = await scrapeNode(cluster.plane(), cluster.node(NODE));
  },
});

function pageOf(page: MetricPage): string {
  if (scrape === undefined) throw new Error('nothing was scraped');
  return scrape[page];
}

async function listed(name: 'reference' | 'actorlet'): Promise<ServedFamilies> {
  const file = new URL(`support/${name}-families.json`, import.meta.url);
  return JSON.parse(await readFile(file, 'utf8')) as ServedFamilies;
}

describe('metrics of a node with pods of many kinds', () => {
  test('every family that docs/metrics.md names is there, with its type, labels and buckets', async () => {
    const list = await listed(agentUnderTest() === 'kubelet' ? 'reference' : 'actorlet');
    const problems: string[] = [];
    for (const page of METRIC_PAGES) {
      const found = familiesOf(pageOf(page));
      for (const family of list.pages[page]) {
        const own: Family | undefined = found.get(family.name);
        const what = own === undefined ? ['missing'] : differencesOf(family, own);
        if (what.length > 0) problems.push(`${page} ${family.name}: ${what.join(', ')}`);
      }
    }
    assert.deepEqual(problems, []);
  });

  test('what the document says is not served is not', async () => {
    const [reference, own] = await Promise.all([listed('reference'), listed('actorlet')]);
    if (agentUnderTest() === 'kubelet') return;
    for (const page of METRIC_PAGES) {
      const names = new Set(own.pages[page].map(({ name }) => name));
      const found = familiesOf(pageOf(page));
      const more = reference.pages[page].filter(({ name }) => !names.has(name) && found.has(name));
      assert.deepEqual(more, [], `${page}: run test/tools/metrics-table.ts`);
    }
  });

  test("the monitoring mix-in's alerts and dashboards find all series that they ask for, with their labels", () => {
    const missing = MIXIN_SERIES.filter(({ series, page, labels = [], where, absent }) => {
      if (absent !== undefined || where !== undefined) return false;
      const samples = samplesOf(pageOf(page)).filter(({ name }) => name === series);
      return !samples.some((sample) => labels.every((label) => (sample.labels[label] ?? '') !== ''));
    });
    assert.deepEqual(
      missing.map(({ series, labels = [] }) => `${series}{${labels.join(',')}}`),
      [],
    );
  });

  test('the figures are those of what was done', () => {
    const samples = samplesOf(pageOf('/metrics'));
    const sum = (name: string, labels: Record<string, string> = {}) =>
      samples
        .filter((s) => s.name === name && Object.entries(labels).every(([key, value]) => s.labels[key] === value))
        .reduce((total, { value }) => total + value, 0);
    assert.equal(sum('authentication_token_cache_request_total', { status: 'hit' }), 1);
    assert.equal(sum('authentication_token_cache_request_total', { status: 'miss' }), 2);
    assert.equal(sum('apiserver_delegated_authn_request_total', { code: '201' }), 2);
    assert.ok(sum('apiserver_delegated_authz_request_total', { code: '201' }) >= 1);
    assert.ok(sum('apiserver_client_certificate_expiration_seconds_count') >= 5);
    assert.equal(sum('kubelet_admission_rejections_total', { reason: 'OutOfcpu' }), 1);
    assert.ok(sum('kubelet_pod_start_sli_duration_seconds_count') >= 2);
    assert.ok(sum('kubelet_pod_start_total_duration_seconds_sum') >= sum('kubelet_pod_start_sli_duration_seconds_sum'));
    assert.ok(sum('kubelet_node_startup_duration_seconds') > sum('kubelet_node_startup_pre_kubelet_duration_seconds'));
    assert.ok(sum('kubelet_certificate_manager_client_ttl_seconds') > 3600);
    assert.ok(sum('rest_client_response_size_bytes_sum') > sum('rest_client_requests_total'));
    const volumes = (state: string) => sum('volume_manager_total_volumes', { state: `${state}_state_of_world` });
    // five that the pod `work` names and its token, host path included; the pod `stuck` wants one more
    assert.equal(volumes('actual'), 7);
    assert.equal(volumes('desired'), 8);
    const mounts = (status: string) =>
      sum('storage_operation_duration_seconds_count', { operation_name: 'volume_mount', status });
    assert.ok(mounts('success') >= 7);
    assert.ok(mounts('fail-unknown') >= 1);
    assert.ok(sum('process_resident_memory_bytes') > 1e7);
    assert.ok(sum('process_network_receive_bytes_total') > 0);
    assert.equal(sum('actorlet_observations_dropped_total'), 0);
  });
});
