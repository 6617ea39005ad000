// Writes docs/metrics.md, and the families that tests compare with, from what metrics-scrape.ts has left in two folders:
// `metrics-table.ts [KUBELET-FOLDER ACTORLET-FOLDER]`; without folders from the families of the last time. It is a tool, no test.
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { familiesOf } from '../cluster/support/metric-families.ts';
import { metricsDocument } from '../cluster/support/metrics-document.ts';
import type { ServedFamilies } from '../cluster/support/metrics-document.ts';
import { METRIC_PAGES, pageFile } from '../cluster/support/metrics-scenario.ts';

const MACHINE = 'cgroup v1, containerd 1.6.20';
const [kubelet, actorlet] = process.argv.slice(2);
const support = (name: string) => fileURLToPath(new URL(`../cluster/support/${name}`, import.meta.url));
const DOCUMENT = fileURLToPath(new URL('../../docs/metrics.md', import.meta.url));

const reference = await families('kubelet v1.35.4', kubelet, support('reference-families.json'));
const own = await families('actorlet', actorlet, support('actorlet-families.json'));
await write(DOCUMENT, metricsDocument(reference, own));

async function families(agent: string, folder: string | undefined, file: string): Promise<ServedFamilies> {
  if (folder === undefined) return JSON.parse(await readFile(file, 'utf8')) as ServedFamilies;
  const date = (await stat(join(folder, pageFile('/metrics')))).mtime.toISOString().slice(0, 10);
  const entries = METRIC_PAGES.map(
    async (page) => [page, [...familiesOf(await readFile(join(folder, pageFile(page)), 'utf8')).values()]] as const,
  );
  const pages = Object.fromEntries(await Promise.all(entries)) as ServedFamilies['pages'];
  const made: ServedFamilies = { agent, date, machine: MACHINE, pages };
  await write(file, JSON.stringify(made));
  return made;
}

async function write(file: string, text: string): Promise<void> {
  await writeFile(file, await format(text, { ...(await resolveConfig(file)), filepath: file }));
}
