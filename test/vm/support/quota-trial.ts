/** Run in a machine: quota-trial.ts FOLDER. Has folders below FOLDER counted, fills them, and prints what the file system and a walk say. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ProjectQuotas } from '../../../actors/host/quota/project-quotas.ts';
import type { ProjectQuotasOptions } from '../../../actors/host/quota/project-quotas.ts';
import { diskUsage } from '../../../actors/resources/stats/disk-usage.ts';

const pod = join(process.argv[2] ?? '', 'pod');
const problems: unknown[] = [];
const log = {
  warn: (about: unknown, text: string) => problems.push(about, text),
} as unknown as ProjectQuotasOptions['log'];
const [one, two] = [join(pod, 'one'), join(pod, 'two')];
for (const folder of [one, two]) await mkdir(folder, { recursive: true });
await writeFile(join(one, 'before'), Buffer.alloc(1 << 20, 1), { flush: true });
const quotas = new ProjectQuotas({ log, podsDir: '/nowhere' });
await quotas.assign(one, 1 << 20);
await quotas.assign(two, 0);
// More than its limit: nothing is bounded by it.
for (let i = 0; i < 10; i++) await writeFile(join(one, `file${i}`), Buffer.alloc(1 << 19, 1), { flush: true });
await mkdir(join(one, 'folder'));
await writeFile(join(one, 'folder', 'deep'), Buffer.alloc(1 << 20, 1), { flush: true });
const next = new ProjectQuotas({ log, podsDir: '/nowhere' });
const counted = await Promise.all([next.use(one), next.use(two), next.use(join(pod, 'three'))]);
const walked = [await diskUsage(one), await diskUsage(two)];
const text = () => readFile('/etc/projects', 'utf8').catch(() => '');
const written = await text();
await next.release(pod);
const left = await text();
await rm(pod, { recursive: true });
process.stdout.write(JSON.stringify({ counted, walked, written, left, problems }));
