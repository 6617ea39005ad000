import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withCluster } from '../support/cluster-fixture.ts';
import { lacksTool } from '../../tools/reference-tool.ts';
import { ClusterNode } from '../support/cluster-node.ts';
import { isReadyPod, uidOf } from '../support/seen-pods.ts';
import { ALLOWED_DIFFERENCES } from './support/allowed-differences.ts';
import { questions } from './support/api-paths.ts';
import type { Question } from './support/api-paths.ts';
import { fullRights, lowRights, strangers } from './support/identities.ts';
import { RawClient } from './support/raw-request.ts';
import type { Answer, Identity } from './support/raw-request.ts';
import { workPod } from './support/work-pod.ts';

const MINE = 'mine';
const REFERENCE = 'reference';
const cluster = withCluster({ nodes: [{ name: MINE }], furnish });

/** A node that is asked, with what stands for NS and UID there. */
interface Asked {
  node: ClusterNode;
  ns: string;
  uid: string;
}
let made: Promise<Identity[]> | undefined;
const known = { strangers: () => (made ??= strangers(cluster.plane())) };
let mine: Asked | undefined;
let reference: Asked | undefined;

async function furnish(): Promise<void> {
  mine = await furnished(cluster.node(MINE));
}

async function furnished(node: ClusterNode): Promise<Asked> {
  const space = await cluster.space(node.name);
  await space.create(await workPod('work', node.name));
  const pod = await space.waitPod('work', 'ready', isReadyPod);
  return { node, ns: space.name, uid: uidOf(pod) };
}

/** Answers to all questions of one identity; what names the node's own things is named as in the question. */
async function answers(asked: Asked, identity: Identity, list: readonly Question[]): Promise<Answer[]> {
  const client = new RawClient(asked.node.address, asked.node.ports.port, identity);
  const general = (text: string) =>
    text
      .replaceAll(asked.uid, 'UID')
      .replaceAll(asked.ns, 'NS')
      .replaceAll(asked.node.name, 'NODE')
      // ids of containers, and what a runtime says about them
      .replaceAll(/[0-9a-f]{64}/g, 'ID');
  const named = (headers: Answer['headers']) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, general(value)]));
  try {
    return await Promise.all(
      list.map(async ({ method, path }) => {
        const real = path.replaceAll('NS', asked.ns).replaceAll('UID', asked.uid);
        const answer = await client.ask(method, real).catch((error: unknown) => ({
          ...{ status: -1, contentType: '', headers: {} },
          body: error instanceof Error ? `${error.message} ${String((error as NodeJS.ErrnoException).code)}` : '?',
        }));
        return redirected({ ...answer, body: general(answer.body), headers: named(answer.headers) });
      }),
    );
  } finally {
    client.close();
  }
}

/** Go's mux redirects with 301 up to Go 1.25, which Kubernetes v1.35 is released with, and with 307 from 1.26 on. */
function redirected(answer: Answer): Answer {
  if (answer.status !== 307) return answer;
  return { ...answer, status: 301, body: answer.body.replace('Temporary Redirect', 'Moved Permanently') };
}

/** How an answer is not the reference's, one text each; what is allowed is left out. */
function differences(question: Question, got: Answer, wanted: Answer): string[] {
  const where = `${question.method} ${question.path}`;
  const may = ALLOWED_DIFFERENCES.filter((d) => d.where.test(where)).flatMap((d) => d.what);
  const bodyCounts = question.exact === true || wanted.status >= 300 || got.status >= 300;
  const parts = [
    ['status', got.status, wanted.status],
    ['contentType', got.contentType, wanted.contentType],
    ['headers', JSON.stringify(got.headers), JSON.stringify(wanted.headers)],
    ...(bodyCounts ? [['body', got.body, wanted.body] as const] : []),
  ] as const;
  return parts.flatMap(([what, a, b]) =>
    a === b || may.includes(what) ? [] : [`${question.path}: ${what} ${JSON.stringify(a)}, not ${JSON.stringify(b)}`],
  );
}

/** What the agent says about questions to the API server that failed: a 401 or 500 of its locks tells nothing. */
async function lockFailures(node: ClusterNode): Promise<string> {
  const lines = (await node.agentLogs()).split('\n');
  return lines
    .filter((line) => /Authorization error|Unable to authenticate/.test(line))
    .slice(-20)
    .join('\n');
}

// What is refused before a path is looked at needs no long list.
const FEW = questions(['GET', 'POST']);
const ALL_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const asked = (which: Asked | undefined): Asked => {
  if (which === undefined) throw new Error('the node is not there');
  return which;
};

test('nobody gets in without an identity', async () => {
  for (const identity of await known.strangers()) {
    const list = identity.name === 'none' ? questions(ALL_METHODS) : FEW;
    const all = await answers(asked(mine), identity, list);
    // that there is no such page, and the short form of a path, is told to everyone
    const open = all.flatMap(({ status, body }, i) =>
      (status === 401 && ['Unauthorized', ''].includes(body)) ||
      (status === 404 && ['404 page not found\n', ''].includes(body)) ||
      [301, 307, 308, 400].includes(status)
        ? []
        : [`${identity.name}: ${list[i]?.method ?? ''} ${list[i]?.path ?? ''}: ${status} ${body.slice(0, 100)}`],
    );
    assert.deepEqual(open, []);
  }
});

test('every path and method, with every identity, answers as the reference does', async (t) => {
  const lacks = await lacksTool('kubelet');
  if (lacks !== false) return t.skip(lacks);
  const plane = cluster.plane();
  const other = await ClusterNode.start(plane, { name: REFERENCE, agent: 'kubelet' });
  try {
    reference = await furnished(other);
    const all = questions(ALL_METHODS);
    // a difference, and who saw it with which method
    const odd = new Map<string, { methods: Set<string>; who: Set<string> }>();
    const [none, ...others] = await known.strangers();
    const [certificate, ...tokens] = await fullRights(plane);
    for (const [identities, list] of [
      [[none, certificate].filter((identity) => identity !== undefined), all],
      [[...others, ...(await lowRights(plane)), ...tokens], FEW],
    ] as const) {
      for (const identity of identities) {
        const ours = await answers(asked(mine), identity, list);
        const theirs = await answers(asked(reference), identity, list);
        list.forEach((question, i) => {
          const [a, b] = [ours[i], theirs[i]];
          if (a === undefined || b === undefined) return;
          for (const line of differences(question, a, b)) {
            const seen = odd.get(line) ?? { methods: new Set(), who: new Set() };
            odd.set(line, seen);
            seen.methods.add(question.method);
            seen.who.add(identity.name);
          }
        });
      }
    }
    const told = [...odd].map(
      ([line, { methods, who }]) => `${[...methods].join(' ')} ${line} (${[...who].join(', ')})`,
    );
    const why = told.length === 0 ? '' : await lockFailures(asked(mine).node);
    assert.equal(told.length, 0, `${told.length} differences:\n${told.slice(0, 300).join('\n')}\n${why}`);
  } finally {
    await other.stop();
  }
});
