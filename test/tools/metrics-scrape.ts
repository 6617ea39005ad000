// Scrapes the metrics of one agent with pods of many kinds into a folder: `metrics-scrape.ts kubelet|actorlet FOLDER`.
// `metrics-table.ts` makes docs/metrics.md of two such folders. It is a tool, no test.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ClusterNode } from '../cluster/support/cluster-node.ts';
import { ControlPlane } from '../cluster/support/control-plane.ts';
import {
  furnishNode,
  METRIC_PAGES,
  pageFile,
  SCENARIO_CONFIG,
  scrapeNode,
} from '../cluster/support/metrics-scenario.ts';
import { Space } from '../cluster/support/space.ts';

const [agent, folder] = process.argv.slice(2);
if ((agent !== 'kubelet' && agent !== 'actorlet') || folder === undefined) {
  throw new Error('usage: metrics-scrape.ts kubelet|actorlet FOLDER');
}
const plane = await ControlPlane.start();
let node: ClusterNode | undefined;
try {
  node = await ClusterNode.start(plane, { name: 'meter', agent, config: SCENARIO_CONFIG });
  const space = await Space.make(plane, 'metrics');
  await furnishNode(plane, node, space);
  const scrape = await scrapeNode(plane, node);
  await mkdir(folder, { recursive: true });
  for (const page of METRIC_PAGES) {
    await writeFile(join(folder, pageFile(page)), scrape[page]);
  }
} finally {
  await node?.stop();
  await plane.stop();
}
