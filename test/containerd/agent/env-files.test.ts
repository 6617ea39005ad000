import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { filesThatHold } from '../../cluster/support/everything-written.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { isReady, statusOf } from './support/seen.ts';
import { RUNS, podOf, runs, shell } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

const MAIN = fileURLToPath(new URL('../../../bin/actorlet.ts', import.meta.url));
/** Values in the files are this and more; manifests hold it in two parts, so that it stands whole in files only. */
const HALVES = [randomBytes(6).toString('hex'), randomBytes(6).toString('hex')] as const;
const MARK = HALVES.join('');

const volumes = [{ name: 'v', emptyDir: {} }];
const mounted = { volumeMounts: [{ name: 'v', mountPath: '/v' }] };

/** A variable from a file of the volume. */
const fromFile = (key: string, more: object = {}) => ({
  name: key,
  valueFrom: { fileKeyRef: { volumeName: 'v', path: 'env', key, ...more } },
});

/** A script that writes `KEY='<mark>-suffix'` lines. */
const writes = (file: string, ...lines: [key: string, suffix: string][]) =>
  lines
    .map(([key, suffix], i) => `printf "${key}='%s%s-${suffix}'\\n" ${HALVES.join(' ')} ${i ? '>>' : '>'} /v/${file}`)
    .join('; ');

describe('variables from files (KEP-3721) on a real node', { concurrency: 6 }, () => {
  let clean: MachineState;
  let node: TestNode;
  before(async () => {
    clean = await machineState();
    node = await TestNode.make();
    await node.startAgent();
  });
  after(async () => {
    await node.stop();
    await assertNothingLeft(clean);
  });

  async function env(pod: string, container: string, names: string): Promise<string> {
    const id = (await node.running(pod))[container] ?? '';
    return (await node.containerd.cri.exec(id, ['sh', '-c', `for n in ${names}; do env | grep "^$n="; done`])).out;
  }

  /** Waits until a container waits for this reason, and returns what it says. */
  async function refusal(pod: string, container: string): Promise<string> {
    const refused = await node.waitPod(
      pod,
      'refused',
      (p) => statusOf(p, container).state?.waiting?.reason === 'CreateContainerConfigError',
    );
    return statusOf(refused, container).state?.waiting?.message ?? '';
  }

  it('init, sidecar and regular containers read what an init container wrote before them; hooks and commands see it', async () => {
    const init = shell('writer', writes('env', ['A', 'a'], ['B', 'b']), mounted);
    const reader = shell('reader', `[ "$A" = ${HALVES[0]}"${HALVES[1]}-a" ] && echo same; echo "C='c'" >> /v/env`, {
      ...mounted,
      env: [fromFile('A')],
    });
    const sidecar = runs('sidecar', { env: [fromFile('C')], restartPolicy: 'Always' });
    const a = {
      ...runs('a', { ...mounted, env: [fromFile('A'), fromFile('NONE', { optional: true }), fromFile('B')] }),
      command: ['sh', '-c', `echo "$0"; ${RUNS}`, 'x-$(B)-$(NONE)'],
      lifecycle: { postStart: { exec: { command: ['sh', '-c', 'echo "$A" > /v/hook'] } } },
    };
    const both = { name: 'D', value: '<$(C)>' };
    const b = runs('b', { env: [fromFile('C', { path: '/./env' }), both] });
    await node.write('all.json', podOf('all', [a, b], { volumes, initContainers: [init, reader, sidecar] }));
    await node.waitPod('all', 'ready', isReady);
    assert.deepEqual(await node.log('all', 'reader'), ['same']);
    assert.equal(await env('all', 'sidecar', 'C'), 'C=c\n');
    assert.equal(await env('all', 'a', 'A B NONE'), `A=${MARK}-a\nB=${MARK}-b\n`);
    assert.equal(await env('all', 'b', 'C D'), 'C=c\nD=<c>\n');
    assert.deepEqual(await node.log('all', 'a'), [`x-${MARK}-b-$(NONE)`]);
    const hook = await node.containerd.cri.exec((await node.running('all'))['a'] ?? '', ['cat', '/v/hook']);
    assert.equal(hook.out, `${MARK}-a\n`);
  });

  it('a container that is started again gets what the file says by then', async () => {
    const init = shell('writer', writes('env', ['A', 'old']), mounted);
    const a = shell('a', `echo "$A"; case $A in *old) ${writes('env', ['A', 'new'])}; exit 1;; esac; ${RUNS}`, {
      ...mounted,
      env: [fromFile('A')],
    });
    await node.write('again.json', podOf('again', [a], { volumes, initContainers: [init] }));
    await node.waitPod('again', 'started again', (p) => isReady(p) && statusOf(p, 'a').restartCount === 1);
    assert.deepEqual(await node.log('again', 'a', 0), [`${MARK}-old`]);
    assert.deepEqual(await node.log('again', 'a', 1), [`${MARK}-new`]);
  });

  it('a key that is not there holds the container up, in kubelet’s words, until it is', async () => {
    const beside = shell('beside', `${writes('env', ['A', 'a'])}; ${RUNS}`, mounted);
    const later = runs('later', { env: [fromFile('LATER')] });
    await node.write('late.json', podOf('late', [beside, later], { volumes }));
    // Before `beside` has written anything there is no file; that text is another.
    const pod = await node.waitPod(
      'late',
      'refused',
      (p) => statusOf(p, 'later').state?.waiting?.message?.startsWith('environment') === true,
    );
    const uid = pod.metadata?.uid ?? '';
    const file = `${node.rootDir}/pods/${uid}/volumes/kubernetes.io~empty-dir/v/env`;
    const message = `environment variable key "LATER" not found in file "${file}"`;
    assert.deepEqual(statusOf(pod, 'later').state?.waiting, { reason: 'CreateContainerConfigError', message });
    const events = await node.events('late');
    assert.ok(events.includes(`Failed: Error: ${message}`), events.join('\n'));
    const id = (await node.running('late'))['beside'] ?? '';
    await node.containerd.cri.exec(id, ['sh', '-c', writes('env', ['LATER', 'z'])]);
    await node.waitPod('late', 'ready', isReady);
    assert.equal(await env('late', 'later', 'LATER'), `LATER=${MARK}-z\n`);
  });

  it('no file, a bad one, a FIFO, a device, a way out: nothing is read, nobody waits, optional or not', async () => {
    const make = [
      `echo "A=${MARK}" > /v/bad`,
      'mkfifo /v/fifo',
      'mknod /v/zero c 1 5',
      'ln -s /etc/hostname /v/out',
      'ln -s ../../../../../../../../etc/hostname /v/up',
      'ln -s loop /v/loop',
    ].join('; ');
    const paths = ['none', 'bad', 'fifo', 'zero', 'out', 'up'];
    const containers = paths.map((path, i) =>
      runs(path, { env: [fromFile('A', { path, ...(i % 2 && { optional: true }) })] }),
    );
    const loop = runs('loop', { env: [fromFile('A', { path: 'loop' })] });
    const init = shell('make', make, mounted);
    const all = [...containers, loop, runs('fine')];
    await node.write('bad.json', podOf('bad', all, { volumes, initContainers: [init] }));
    for (const path of paths) assert.equal(await refusal('bad', path), "couldn't parse env file", path);
    assert.match(await refusal('bad', 'loop'), /^SecureJoin \/.*\/v\/loop: too many levels of symbolic links$/);
    await node.waitPod('bad', 'the other one ready', (p) => statusOf(p, 'fine').ready);
    const said = (await node.agentLog()).filter((line) => line['msg'] === 'Failed to parse env file');
    const why = (path: string) => String(said.find((line) => String(line['file']).endsWith(`/v/${path}`))?.['err']);
    assert.match(why('bad'), /line 1: value must be enclosed in single quotes/);
    for (const path of ['fifo', 'zero']) assert.match(why(path), /is not a regular file/);
    for (const path of ['etc/hostname', 'none']) assert.match(why(path), /ENOENT/);
  });

  it('a volume that no container mounts is not set up, so that there is no file in it: as with kubelet', async () => {
    await node.write(
      'lone.json',
      podOf('lone', [runs('a', { env: [fromFile('A', { optional: true })] })], { volumes }),
    );
    assert.equal(await refusal('lone', 'a'), 'cannot find the volume "v" referenced by FileKeyRef');
  });

  it('a pod that names a volume of another kind, or none, is refused with its field', async () => {
    const wrong = (name: string, volumeName: string) =>
      podOf(name, [runs('a', { env: [fromFile('A', { volumeName })] })], {
        volumes: [{ name: 'host', hostPath: { path: '/tmp' } }],
      });
    await node.write('kind.json', wrong('kind', 'host'));
    await node.write('lacks.json', wrong('lacks', 'lacks'));
    const field = 'spec.containers[0].env[0].valueFrom.fileKeyRef.volumeName';
    for (const words of [
      `${field}: Invalid value: \\"host\\": referenced volume must be of type emptyDir`,
      `${field}: Not found: \\"lacks\\"`,
    ])
      await waitFor(
        words,
        async () => (await node.agentLog()).some((line) => JSON.stringify(line).includes(words)) || undefined,
      );
    await node.remove('kind.json');
    await node.remove('lacks.json');
  });
});

it('no value gets into the journal or the log, and the journal replays identically', async () => {
  const node = await TestNode.make();
  try {
    await node.startAgent();
    const init = shell('writer', writes('env', ['A', 'a']), mounted);
    const sub = { volumeMounts: [{ name: 'v', mountPath: '/sub', subPathExpr: 'x$(A)' }] };
    const a = runs('a', { ...sub, command: ['sh', '-c', RUNS, '$(A)'], env: [fromFile('A')] });
    const b = runs('b', { env: [fromFile('A'), fromFile('NONE')] });
    await node.write('secret.json', podOf('secret', [a, b], { volumes, initContainers: [init] }));
    await node.waitPod(
      'secret',
      'one runs and one is refused',
      (p) => statusOf(p, 'a').ready && statusOf(p, 'b').state?.waiting?.reason === 'CreateContainerConfigError',
    );
    const out = await node.containerd.cri.exec((await node.running('secret'))['a'] ?? '', ['sh', '-c', 'echo $A']);
    assert.equal(out.out, `${MARK}-a\n`, 'the value is in the container');
    await node.remove('secret.json');
    await node.waitGone('secret');
    await node.agent.terminate();
    assert.ok((await filesThatHold(node.journalDir, [HALVES[0]])).length > 0, 'the journal is read');
    assert.deepEqual(await filesThatHold(node.journalDir, [MARK]), []);
    const log = JSON.stringify(await node.agentLog());
    assert.match(log, /couldn't|not found in file/);
    assert.equal(log.includes(MARK), false);
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, 'replay', node.journalDir]);
    assert.equal(stdout, 'identical\n');
  } finally {
    await node.stop();
  }
});

it('with the gate EnvFiles off the variable is there and empty, as with kubelet', async () => {
  const node = await TestNode.make({ config: { featureGates: { EnvFiles: false } } });
  try {
    await node.startAgent();
    const command = ['sh', '-c', `echo "[\${A-unset}] $0"; ${RUNS}`, '<$(A)>'];
    const a = runs('a', { command, env: [fromFile('A')] });
    await node.write('off.json', podOf('off', [a], { volumes }));
    await node.waitPod('off', 'ready', isReady);
    const lines = await waitFor('its words', async () =>
      (await node.log('off', 'a')).length > 0 ? node.log('off', 'a') : undefined,
    );
    assert.deepEqual(lines, ['[] <>']);
    await node.remove('off.json');
    await node.waitGone('off');
  } finally {
    await node.stop();
  }
});
