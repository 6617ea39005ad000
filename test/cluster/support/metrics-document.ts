import type { Family } from './metric-families.ts';
import { DIFFERENCES, NOT_SERVED, ONLY_WHEN } from './metric-notes.ts';
import { METRIC_PAGES } from './metrics-scenario.ts';
import type { MetricPage } from './metrics-scenario.ts';
import { MIXIN_SERIES } from './mixin-series.ts';

/** Families of one agent's pages, as `test/tools/metrics-table.ts` keeps them. */
export interface ServedFamilies {
  agent: string;
  /** Day of the scrape. */
  date: string;
  machine: string;
  pages: Record<MetricPage, readonly Family[]>;
}

/** Where a family differs in type, labels or buckets; empty when it does not. */
export function differencesOf(reference: Family, own: Family): string[] {
  const out: string[] = [];
  if (own.type !== reference.type) out.push(`type ${own.type}`);
  const [missing, more] = [without(reference.labels, own.labels), without(own.labels, reference.labels)];
  if (missing.length > 0) out.push(`without the label ${missing.join(', ')}`);
  if (more.length > 0) out.push(`with the label ${more.join(', ')}`);
  if (String(own.buckets) !== String(reference.buckets)) out.push('other buckets');
  return out;
}

/** The text of docs/metrics.md. */
export function metricsDocument(reference: ServedFamilies, own: ServedFamilies): string {
  const sections = METRIC_PAGES.map((page) => pageSection(page, reference.pages[page], own.pages[page]));
  const all = METRIC_PAGES.flatMap((page) => reference.pages[page].map((family) => ({ page, family })));
  const count = (wanted: Verdict) =>
    all.filter(({ page, family }) => verdictOf(family, find(own.pages[page], family)).verdict === wanted).length;
  return `${[
    HEAD,
    `Both agents ran on a node of a real cluster (${reference.machine}) with the same pods: ${reference.agent} on ${reference.date}, actorlet on ${own.date}.`,
    `Of ${all.length} families of the reference ${count('same')} are served alike, ${count('differs')} with a difference that is named, ${count('no')} are not.`,
    ...sections,
    onlyWhen(),
    mixin(),
    ownSection(reference, own),
  ].join('\n\n')}\n`;
}

const HEAD = `# Metrics

Names, types, labels and buckets are those of kubelet v1.35; the help texts are our own. The kubelet server (10250) serves all
pages below, the read-only port (10255) as well. All is put together when it is asked for.

This page is made: \`node test/tools/metrics-scrape.ts kubelet FOLDER\` and \`... actorlet FOLDER\` scrape both agents,
\`node test/tools/metrics-table.ts KUBELET-FOLDER ACTORLET-FOLDER\` writes the page and the families that tests compare with.
\`test/pure/metrics\` fails when the page is stale, \`test/cluster/metrics.test.ts\` when a family that it names is missing from
a real scrape, or has another type, other labels or buckets.

## Against the reference kubelet`;

type Verdict = 'same' | 'differs' | 'no';

function verdictOf(reference: Family, own: Family | undefined): { verdict: Verdict; text: string; group?: string } {
  if (own === undefined) {
    const note = NOT_SERVED.find(({ match }) => match.test(reference.name));
    if (note === undefined) throw new Error(`${reference.name} is not served, and metric-notes.ts does not say why`);
    return { verdict: 'no', text: `no: ${note.text}`, ...(note.group !== undefined && { group: note.group }) };
  }
  const note = DIFFERENCES.find(({ match }) => match.test(reference.name));
  const texts = [...differencesOf(reference, own), ...(note === undefined ? [] : [note.text])];
  return texts.length === 0
    ? { verdict: 'same', text: 'yes' }
    : { verdict: 'differs', text: `yes; ${texts.join('; ')}` };
}

function pageSection(page: MetricPage, reference: readonly Family[], own: readonly Family[]): string {
  const rows = new Map<string, string[]>();
  const grouped = new Map<string, number>();
  for (const family of reference) {
    const { text, group } = verdictOf(family, find(own, family));
    if (group !== undefined) grouped.set(group, (grouped.get(group) ?? 0) + 1);
    const labels = family.labels.length === 0 ? '' : family.labels.map((label) => `\`${label}\``).join(', ');
    rows.set(
      group ?? family.name,
      group === undefined
        ? [`\`${family.name}\``, family.type, labels, text]
        : [code(group), `${grouped.get(group)} families`, '', text],
    );
  }
  return `### \`${page}\`\n\n${table(['family', 'type', 'labels', 'served'], [...rows.values()])}`;
}

function onlyWhen(): string {
  const rows = ONLY_WHEN.map(([families, when]) => [families, when]);
  return `## Only when there is something to tell\n\nAs in kubelet:\n\n${table(['families', 'when'], rows)}`;
}

function mixin(): string {
  const rows = MIXIN_SERIES.map(({ series, page, labels = [], asked, where, absent }) => {
    const names = labels.map((label) => `\`${label}\``).join(', ');
    return [`\`${series}\``, `\`${page}\``, names, asked, absent === undefined ? (where ?? 'yes') : `no: ${absent}`];
  });
  const head = ['series', 'page', 'labels', 'asked by', 'there'];
  return `## The Kubernetes monitoring mix-in

What its alerts, rules and dashboards ask of kubelets (\`test/cluster/support/mixin-series.ts\`); a test looks for each with its
labels on a real scrape.

${table(head, rows)}`;
}

function ownSection(reference: ServedFamilies, own: ServedFamilies): string {
  const known = new Set(METRIC_PAGES.flatMap((page) => reference.pages[page].map(({ name }) => name)));
  const rows = METRIC_PAGES.flatMap((page) => own.pages[page])
    .filter(({ name }) => !known.has(name))
    .map(({ name, type, labels }) => [
      `\`${name}\``,
      type,
      labels.map((label) => `\`${label}\``).join(', '),
      OWN[name] ?? '',
    ]);
  const shown = new Set(rows.map(([name]) => name));
  for (const [name, meaning] of Object.entries(OWN)) {
    if (!shown.has(`\`${name}\``) && name.startsWith('actorlet_')) rows.push([`\`${name}\``, '', '', meaning]);
  }
  return `## actorlet's own\n\n${table(['family', 'type', 'labels', 'meaning'], rows)}`;
}

const OWN: Readonly<Record<string, string>> = {
  actorlet_pod_state: 'pod machines in each state',
  actorlet_shard_messages_total: 'messages that each worker thread has handled',
  actorlet_shard_restarts_total: 'times that a worker thread was replaced (absent while there was none)',
  actorlet_pods_put_aside_total: 'times that a pod was put aside since worker threads died on it',
  actorlet_shard_heartbeat_seconds: 'when each worker thread last gave a sign of life',
  actorlet_journal_bytes_total: 'bytes written to the journals of shards and supervisor, before compression',
  actorlet_journal_lost_lines_total: 'lines that are in no journal: its disk refused them or did not answer',
  actorlet_journal_stalls_total: 'times that the disk of a journal did not answer for a second',
  actorlet_effect_duration_seconds: 'time from an effect to its outcome',
  actorlet_image_pulls_shared_total:
    'images that containers (and image volumes) got by a pull that another had asked for',
  actorlet_observations_dropped_total: 'readings that fit no metric; more than 0 is a fault of the agent',
  nodejs_heap_size_total_bytes: "the main thread's heap",
  nodejs_heap_size_used_bytes: 'what of it is in use',
  nodejs_external_memory_bytes: 'memory that objects of the main thread hold outside of the heap',
  nodejs_version_info: 'always 1; the labels say the version of Node.js',
};

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function code(group: string): string {
  return group
    .split(', ')
    .map((name) => `\`${name}\``)
    .join(', ');
}

function find(families: readonly Family[], { name }: Family): Family | undefined {
  return families.find((family) => family.name === name);
}

function without(names: readonly string[], others: readonly string[]): string[] {
  return names.filter((name) => !others.includes(name));
}
