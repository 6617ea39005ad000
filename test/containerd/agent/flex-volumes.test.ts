/** Pods with FlexVolumes on a real runtime: the driver is a program of the machine, called by the agent. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { FolderDriver } from '../../tools/flex-driver/folder-driver.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { podOf, runs, shell } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';

const skip = process.getuid?.() !== 0;
let drivers = '';
let node: TestNode;

before(async () => {
  if (skip) return;
  drivers = await mkdtemp(join(tmpdir(), 'flex-'));
  node = await TestNode.make({ config: { volumePluginDir: drivers } });
  await node.startAgent();
});
after(async () => {
  if (skip) return;
  await node.stop();
  await rm(drivers, { recursive: true, force: true });
});

const podWith = (name: string, driver: string, script?: string) => {
  const more = { volumeMounts: [{ name: 'data', mountPath: '/data' }] };
  const volumes = [{ name: 'data', flexVolume: { driver, options: { folder: name } } }];
  return podOf(name, [script === undefined ? runs('c', more) : shell('c', script, more)], { volumes });
};

const mountsOf = async (driver: string): Promise<string[]> =>
  (await readFile('/proc/self/mountinfo', 'utf8'))
    .split('\n')
    .map((line) => line.split(' ')[4] ?? '')
    .filter((path) => path.startsWith(node.rootDir) && path.includes(driver.replaceAll('/', '~')));

async function nothingLeft(driver: string): Promise<void> {
  await waitFor(
    'nothing of the volume',
    async () =>
      (await mountsOf(driver)).length + (await readdir(join(node.rootDir, 'pods'))).length === 0 ? true : undefined,
    async () => [...(await mountsOf(driver)), ...(await readdir(join(node.rootDir, 'pods')))].join('\n'),
  );
}

const isRunning = (phase: string | undefined): boolean => phase === 'Running';

test(
  'a pod waits for its driver, writes to the volume, is kept through a kill of the agent, and leaves nothing',
  { skip },
  async () => {
    const name = 'example.com/folder';
    await node.write(
      'writer.json',
      podWith('writer', name, 'echo kept > /data/file; sleep 100000 & trap "kill $!" TERM; wait'),
    );
    const says =
      'FailedMount: Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: failed to get Plugin from volumeSpec for volume "data" err=no volume plugin matched';
    await waitFor('its wait to be told', async () => (await node.events('writer')).find((text) => text === says));
    const driver = new FolderDriver(drivers, 'example.com', 'folder');
    const pod = await node.waitPod('writer', 'running', ({ status }) => isRunning(status?.phase));
    const path = join(node.rootDir, 'pods', pod.metadata?.uid ?? '', 'volumes/example.com~folder/data');
    assert.deepEqual(await mountsOf(name), [path]);
    await waitFor('its file', () => Promise.resolve(fileOf(driver, 'writer') === 'kept\n' || undefined));
    const [container] = await node.containers('writer');
    await node.agent.kill();
    await node.startAgent();
    await node.waitPod('writer', 'running', ({ status }) => isRunning(status?.phase));
    assert.equal((await node.containers('writer'))[0]?.id, container?.id);
    assert.deepEqual(await mountsOf(name), [path]);
    // Killed again, its manifest gone meanwhile: the next agent knows of the volume by the folder alone.
    await node.agent.kill();
    await node.remove('writer.json');
    await node.startAgent();
    await node.waitGone('writer');
    await nothingLeft(name);
    assert.equal(fileOf(driver, 'writer'), 'kept\n');
    assert.deepEqual(
      driver.did.filter((call) => call !== 'init'),
      ['mount', 'unmount'],
    );
  },
);

test(
  'what a driver says stands in the event; one that hangs holds up its own pod only, which may be deleted',
  { skip },
  async () => {
    const name = 'example.com/odd';
    const driver = new FolderDriver(drivers, 'example.com', 'odd');
    driver.answer('mount', '{"status": "Failure", "message": "the disk is on fire"}', 1);
    await node.write('odd.json', podWith('odd', name));
    const says =
      'FailedMount: MountVolume.SetUp failed for volume "data" : mount command failed, status: Failure, reason: the disk is on fire';
    await waitFor('the event', async () => (await node.events('odd')).find((text) => text === says));
    driver.answer('mount', null);
    await node.waitPod('odd', 'running', ({ status }) => isRunning(status?.phase));
    driver.hang('mount', true);
    await node.write('stuck.json', podWith('stuck', name));
    await waitFor('the call', () => Promise.resolve(driver.calls.some((line) => line.includes('"stuck')) || undefined));
    await node.write('well.json', podOf('well', [runs('c')]));
    await node.waitPod('well', 'running', ({ status }) => isRunning(status?.phase));
    for (const each of ['stuck', 'odd', 'well']) await node.remove(`${each}.json`);
    await node.waitGone('stuck', 'odd', 'well');
    driver.hang('mount', false);
    await nothingLeft(name);
  },
);

function fileOf(driver: FolderDriver, volume: string): string | null {
  try {
    return readFileSync(join(driver.volume(volume), 'file'), 'utf8');
  } catch {
    return null;
  }
}
