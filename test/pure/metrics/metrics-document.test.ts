import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import { familiesOf } from '../../cluster/support/metric-families.ts';
import { DIFFERENCES, NOT_SERVED } from '../../cluster/support/metric-notes.ts';
import { differencesOf, metricsDocument } from '../../cluster/support/metrics-document.ts';
import type { ServedFamilies } from '../../cluster/support/metrics-document.ts';
import { METRIC_PAGES } from '../../cluster/support/metrics-scenario.ts';
import { MIXIN_SERIES } from '../../cluster/support/mixin-series.ts';

const path = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
const families = async (name: string) =>
  JSON.parse(await readFile(path(`test/cluster/support/${name}-families.json`), 'utf8')) as ServedFamilies;
const [reference, own] = await Promise.all([families('reference'), families('actorlet')]);

test('docs/metrics.md is what the scrapes make of it', async () => {
  const file = path('docs/metrics.md');
  const made = await format(metricsDocument(reference, own), { ...(await resolveConfig(file)), filepath: file });
  assert.equal(await readFile(file, 'utf8'), made, 'stale: run node test/tools/metrics-table.ts');
});

test('what has a name of the reference has its type, labels and buckets', () => {
  for (const page of METRIC_PAGES) {
    for (const family of own.pages[page]) {
      const theirs = reference.pages[page].find(({ name }) => name === family.name);
      if (theirs !== undefined) assert.deepEqual(differencesOf(theirs, family), [], `${family.name} on ${page}`);
    }
  }
});

test('the differences that are told are seen', () => {
  const base = { name: 'x', type: 'histogram', labels: ['a', 'b'], buckets: [1, 2] };
  assert.deepEqual(differencesOf(base, { ...base, labels: ['b', 'c'], buckets: [1, 3] }), [
    'without the label a',
    'with the label c',
    'other buckets',
  ]);
  assert.deepEqual(differencesOf(base, { name: 'x', type: 'gauge', labels: ['a', 'b'] }), [
    'type gauge',
    'other buckets',
  ]);
});

test('no note is about nothing, and nothing that is served is noted as not served', () => {
  const names = METRIC_PAGES.flatMap((page) => reference.pages[page].map(({ name }) => name));
  for (const { match } of [...NOT_SERVED, ...DIFFERENCES]) {
    assert.ok(
      names.some((name) => match.test(name)),
      `${String(match)} fits no family of the reference`,
    );
  }
  const served = METRIC_PAGES.flatMap((page) => own.pages[page].map(({ name }) => name));
  const wrong = served.filter(
    (name) => !/^go_(goroutines|threads)$/.test(name) && NOT_SERVED.some((n) => n.match.test(name)),
  );
  assert.deepEqual(wrong, []);
});

test('the mix-in finds its series on the reference, too', () => {
  for (const { series, page, labels = [], where, absent } of MIXIN_SERIES) {
    const family = series.replace(/_(bucket|count)$/, '');
    const theirs = reference.pages[page].find(({ name }) => name === family);
    if (absent !== undefined) assert.equal(theirs, undefined, series);
    else if (where === undefined)
      for (const label of labels) assert.ok(label === 'le' || theirs?.labels.includes(label), `${series}{${label}}`);
  }
});

test('the families of a page are those with samples, and lines that fit nothing are told', async () => {
  const metrics = createMetrics();
  metrics.podWorkerDuration.observe({ operation_type: 'a "b" \\' }, 0.3);
  const found = familiesOf(await metrics.text());
  assert.deepEqual(found.get('kubelet_pod_worker_duration_seconds')?.labels, ['operation_type']);
  assert.deepEqual(found.get('kubelet_pod_worker_duration_seconds')?.buckets?.at(-1), 10);
  assert.equal(found.has('storage_operation_duration_seconds'), false);
  assert.throws(() => familiesOf('no sample here'), /no sample/);
  assert.throws(() => familiesOf('x 1'), /no TYPE/);
});
