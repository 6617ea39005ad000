/** Names of probes: a name server that never answers holds nobody else up. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { LookupAddress } from 'node:dns';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { nameLookup } from '../../../actors/pods/prober/look-up.ts';
import { waitFor } from '../../tools/wait-for.ts';

/** `later` says that there is no such name, whenever it is called. */
type Answer = (name: string, type: number, later: () => void) => number[] | 'no such name' | 'nothing';

/** The question's name, its type, and where it ends. */
function question(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 };
}

async function setUp(t: TestContext, answer: Answer, files: { hosts?: string; resolvConf?: string } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'look-up-'));
  const server: Socket = createSocket('udp4');
  const asked: string[] = [];
  server.on('message', (message, { port, address }) => {
    const { name, type, end } = question(message);
    asked.push(name);
    const reply = (found: number[] | 'no such name'): void => send(found, message.subarray(0, end), port, address);
    const found = answer(name, type, () => reply('no such name'));
    if (found !== 'nothing') reply(found);
  });
  const send = (found: number[] | 'no such name', asking: Buffer, port: number, address: string): void => {
    const head = Buffer.from(asking);
    const address4 = found === 'no such name' ? [] : found;
    head.writeUInt16BE(found === 'no such name' ? 0x8183 : 0x8180, 2);
    head.writeUInt16BE(address4.length > 0 ? 1 : 0, 6);
    head.writeUInt32BE(0, 8);
    const record = address4.length > 0 ? [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address4] : [];
    server.send(Buffer.concat([head, Buffer.from(record)]), port, address);
  };
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  const [hosts, resolvConf] = [join(folder, 'hosts'), join(folder, 'resolv.conf')];
  writeFileSync(hosts, files.hosts ?? '');
  writeFileSync(resolvConf, files.resolvConf ?? '');
  const lookup = nameLookup({ hosts, resolvConf, servers: [`127.0.0.1:${(server.address() as AddressInfo).port}`] });
  const find = (name: string) =>
    new Promise<LookupAddress[]>((resolve, reject) => {
      lookup(name, { all: true }, (error, found) =>
        error === null ? resolve(found as LookupAddress[]) : reject(error),
      );
    });
  return { find, asked };
}

test('look-ups that wait for their server leave files of others alone', async (t) => {
  const release: (() => void)[] = [];
  const { find, asked } = await setUp(t, (_name, _type, later) => (release.push(later), 'nothing'), {
    resolvConf: 'options timeout:200 attempts:1\n',
  });
  let over = 0;
  const codes = Array.from({ length: 8 }, (_, i) =>
    find(`slow${i}.example`).then(
      () => 'found',
      (error: NodeJS.ErrnoException) => {
        over++;
        return error.code;
      },
    ),
  );
  await waitFor('all names to be asked for', () => asked.length === 16 || undefined);
  // Were names asked for in the threads that read files, this would wait for them.
  await readFile(new URL(import.meta.url));
  assert.equal(over, 0);
  for (const answer of release) answer();
  assert.deepEqual(new Set(await Promise.all(codes)), new Set(['ENOTFOUND']));
});

test('a server that never answers is given up, and not asked for other domains', async (t) => {
  const { find, asked } = await setUp(t, () => 'nothing', {
    resolvConf: 'search one.example two.example\noptions timeout:1 attempts:1\n',
  });
  await assert.rejects(find('slow'), { code: 'EAI_AGAIN' });
  assert.deepEqual([...new Set(asked)], ['slow.one.example']);
});

test('/etc/hosts comes first, then the search domains by ndots', async (t) => {
  const { find, asked } = await setUp(
    t,
    (name, type) => (name === 'web.two.example' ? (type === 1 ? [10, 0, 0, 9] : []) : 'no such name'),
    { hosts: '10.0.0.1 a b # c\n::1 b\n', resolvConf: 'search one.example two.example.\noptions ndots:2\n' },
  );
  assert.deepEqual(await find('B'), [
    { address: '10.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);
  assert.deepEqual(asked, []);
  assert.deepEqual(await find('web'), [{ address: '10.0.0.9', family: 4 }]);
  assert.deepEqual([...new Set(asked)], ['web.one.example', 'web.two.example']);
  asked.length = 0;
  await assert.rejects(find('no.web'), { code: 'ENOTFOUND' });
  assert.deepEqual([...new Set(asked)], ['no.web.one.example', 'no.web.two.example', 'no.web']);
  asked.length = 0;
  await assert.rejects(find('a.b.c'), { code: 'ENOTFOUND' });
  assert.equal(asked[0], 'a.b.c');
});
