import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { BUSYBOX_IMAGE } from '../../cri/private-containerd/own-images.ts';
import { statusOf } from '../containerd/agent/support/seen.ts';
import { runs } from '../containerd/agent/support/test-pod.ts';
import { waitFor } from '../tools/wait-for.ts';
import { ANN, BOB, TestRegistry } from '../containerd/support/test-registry.ts';
import type { Pod } from './support/api-objects.ts';
import { withCluster } from './support/cluster-fixture.ts';
import { apiPod } from './support/manifests.ts';
import { isReadyPod } from './support/seen-pods.ts';
import type { Space } from './support/space.ts';

const NODE = 'iota';

/** Everybody needs a login here; below `node/` the node has one, below `plugin/` a credential provider plugin. */
const registry = await TestRegistry.start();
/** Everybody is let in here. */
const open = await TestRegistry.start({ open: true });
const plugins = await makePlugin();

after(async () => {
  await Promise.all([registry.stop(), open.stop()]);
  await rm(plugins.dir, { recursive: true, force: true });
});

const cluster = withCluster({
  nodes: [
    {
      name: NODE,
      flags: [
        ...['--image-credential-provider-config', plugins.config],
        ...['--image-credential-provider-bin-dir', plugins.bin],
      ],
    },
  ],
  furnish: async ({ node }) => {
    const here = node(NODE);
    await here.agent.terminate();
    await writeFile(join(here.agentRoot, 'config.json'), registry.dockerConfig(ANN, `${registry.host}/node`));
    await here.startAgent();
    await here.waitSchedulable();
  },
});

/** A plugin that writes down what it is asked, with its argument and its variable, and knows the login of bob. */
async function makePlugin(): Promise<{ dir: string; bin: string; config: string; asked: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'plugin-'));
  const bin = join(dir, 'bin');
  const asked = join(dir, 'asked');
  const config = join(dir, 'providers.json');
  const apiVersion = 'credentialprovider.kubelet.k8s.io/v1';
  const [username, password] = BOB.split(':');
  const answer = {
    ...{ kind: 'CredentialProviderResponse', apiVersion, cacheKeyType: 'Image', cacheDuration: '0s' },
    auth: { [`${registry.host}/plugin`]: { username, password } },
  };
  await mkdir(bin);
  const script = `#!/bin/sh\n{ cat; echo " $1 $COLOR"; } >> '${asked}'\nprintf '%s' '${JSON.stringify(answer)}'\n`;
  await writeFile(join(bin, 'asker'), script);
  await chmod(join(bin, 'asker'), 0o755);
  const provider = {
    ...{ name: 'asker', apiVersion, matchImages: [`${registry.host}/plugin`], defaultCacheDuration: '0s' },
    ...{ args: ['get-credentials'], env: [{ name: 'COLOR', value: 'red' }] },
  };
  const whole = { apiVersion: 'kubelet.config.k8s.io/v1', kind: 'CredentialProviderConfig', providers: [provider] };
  await writeFile(config, JSON.stringify(whole));
  return { dir, bin, config, asked };
}

const pullSecret = (name: string, login: string, legacy = false) => {
  const whole = registry.dockerConfig(login);
  if (!legacy)
    return {
      ...{ kind: 'Secret', type: 'kubernetes.io/dockerconfigjson', metadata: { name } },
      stringData: { '.dockerconfigjson': whole },
    };
  const { auths } = JSON.parse(whole) as { auths: object };
  return {
    ...{ kind: 'Secret', type: 'kubernetes.io/dockercfg', metadata: { name } },
    stringData: { '.dockercfg': JSON.stringify(auths) },
  };
};

/** A pod that runs an image with these pull secrets. */
const podWith = (name: string, image: string, secrets: string[] = [], imagePullPolicy = 'IfNotPresent') =>
  apiPod(name, [runs('c', { image, imagePullPolicy })], {
    imagePullSecrets: secrets.map((each) => ({ name: each })),
    terminationGracePeriodSeconds: 1,
  });

async function ready(space: Space, pod: ReturnType<typeof podWith>): Promise<Pod> {
  await space.create(pod);
  return space.waitPod(pod.metadata.name, 'ready', isReadyPod);
}

/** Why the container waits, as `reason: message`. */
const waiting = (pod: Pod): string => {
  const { reason, message } = statusOf(pod, 'c').state?.waiting ?? {};
  return `${reason ?? ''}: ${message ?? ''}`;
};

const waitsFor = (space: Space, name: string, reason: string) =>
  space.waitPod(name, reason, (pod) => statusOf(pod, 'c').state?.waiting?.reason === reason);

/** Reason and message of all events about the pod's image and container, each once, in their order. */
async function told(space: Space, name: string): Promise<string[]> {
  const events = await space.events(name);
  const about = events.filter(({ involvedObject }) => involvedObject.fieldPath === 'spec.containers{c}');
  return [...new Set(about.map(({ type, reason, message }) => `${type ?? ''} ${reason ?? ''}: ${message ?? ''}`))];
}

/** Restarts the agent with other fields in its configuration; the former ones come back with the returned function. */
async function reconfigured(more: Record<string, unknown>): Promise<() => Promise<void>> {
  const node = cluster.node(NODE);
  const file = join(node.dir, 'config.json');
  const before = await readFile(file, 'utf8');
  const put = async (text: string) => {
    await node.agent.terminate();
    await writeFile(file, text);
    await node.startAgent();
    await node.waitSchedulable();
  };
  await put(JSON.stringify({ ...(JSON.parse(before) as object), ...more }));
  return () => put(before);
}

const recordFile = (folder: string, key: string) =>
  join(
    cluster.node(NODE).agentRoot,
    'image_manager',
    folder,
    `sha256-${createHash('sha256').update(key).digest('hex')}`,
  );

/** How containerd 1.6 and 2 tell of a pull that was not allowed. */
const NOT_ALLOWED = '401 Unauthorized|unauthorized|authorization failed|no basic auth';

describe('image pulls from a real registry', { concurrency: true }, () => {
  test('pull secrets of both kinds, a login of the node and a plugin open a private registry', async () => {
    const space = await cluster.space('logins');
    await space.create(pullSecret('json', ANN));
    await space.create(pullSecret('legacy', BOB, true));
    const [a, b, c, d] = await Promise.all(
      ['team/a', 'team/b', 'node/c', 'plugin/d'].map((each) => registry.push(each)),
    );
    assert.ok(a !== undefined && b !== undefined && c !== undefined && d !== undefined);
    const pods = await Promise.all([
      ready(space, podWith('a', a.image, ['json'])),
      ready(space, podWith('b', b.image, ['absent', 'legacy'])),
      ready(space, podWith('c', c.image)),
      ready(space, podWith('d', d.image)),
    ]);
    for (const [i, { image, digest }] of [a, b, c, d].entries()) {
      const pod = pods[i];
      assert.ok(pod !== undefined);
      const status = statusOf(pod, 'c');
      assert.equal(status.image, image);
      assert.equal(status.imageID, `${image.slice(0, image.lastIndexOf(':'))}@${digest}`);
    }
    const { images } = { images: await cluster.node(NODE).containerd.cri.images() };
    const size = images.find(({ repoTags }) => repoTags.includes(a.image))?.size;
    const span = '[0-9.]+m?s';
    const pulled = `Successfully pulled image "${a.image}" in ${span} \\(${span} including waiting\\)\\. Image size: ${String(size)} bytes\\.`;
    await space.waitEvent('a', 'Pulled', new RegExp(`^${pulled}$`));
    assert.equal((await space.waitEvent('a', 'Pulling')).message, `Pulling image "${a.image}"`);
    const missing =
      'Unable to retrieve some image pull secrets (absent); attempting to pull the image may not succeed.';
    assert.equal((await space.waitEvent('b', 'FailedToRetrieveImagePullSecret')).message, missing);
    const request = { kind: 'CredentialProviderRequest', apiVersion: 'credentialprovider.kubelet.k8s.io/v1' };
    const [asked = ''] = (await readFile(plugins.asked, 'utf8')).split(/(?<= red)\n/);
    const [body = '', rest = ''] = asked.split(/(?<=\})\s*(?= get)/);
    assert.deepEqual(JSON.parse(body), { ...request, image: `${registry.host}/plugin/d` });
    assert.equal(rest.trim(), 'get-credentials red');
  });

  test('a wrong login is ErrImagePull, then ImagePullBackOff; the right one opens', async () => {
    const space = await cluster.space('wrong');
    const { image } = await registry.push('team/wrong');
    await space.create(pullSecret('login', 'ann:guessed'));
    await space.create(podWith('p', image, ['login']));
    const error = waiting(await waitsFor(space, 'p', 'ErrImagePull'));
    const text = error.replace(/^ErrImagePull: /, '');
    assert.match(text, new RegExp(`^failed to pull and unpack image "${image}": .*(${NOT_ALLOWED})`));
    const held = waiting(await waitsFor(space, 'p', 'ImagePullBackOff'));
    assert.equal(held, `ImagePullBackOff: Back-off pulling image "${image}": ErrImagePull: ${text}`);
    await space.waitEvent('p', 'Failed', /^Error: ImagePullBackOff$/);
    assert.deepEqual((await told(space, 'p')).sort(), [
      `Normal BackOff: Back-off pulling image "${image}"`,
      `Normal Pulling: Pulling image "${image}"`,
      'Warning Failed: Error: ErrImagePull',
      'Warning Failed: Error: ImagePullBackOff',
      `Warning Failed: Failed to pull image "${image}": ${text}`,
    ]);
    await space.patch('Secret', 'login', { stringData: { '.dockerconfigjson': registry.dockerConfig(BOB) } });
    await space.waitPod('p', 'ready', isReadyPod);
  });

  test('what is not there, what has no name and what may not be pulled', async () => {
    const space = await cluster.space('lost');
    const image = `${open.host}/none/such:1`;
    const bad = 'Not/A:name:';
    const never = `${open.host}/never/pulled:1`;
    await Promise.all([
      space.create(podWith('lost', image)),
      space.create(podWith('bad', bad)),
      space.create(podWith('never', never, [], 'Never')),
    ]);
    const lost = waiting(await waitsFor(space, 'lost', 'ErrImagePull'));
    assert.match(
      lost,
      new RegExp(
        `^ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "${image}": .*: not found$`,
      ),
    );
    const why = `couldn't parse image name "${bad}": invalid reference format: repository name (A) must be lowercase`;
    const named = `Failed to apply default image tag "${bad}": ${why}`;
    assert.equal(waiting(await waitsFor(space, 'bad', 'InvalidImageName')), `InvalidImageName: ${named}`);
    await space.waitEvent('bad', 'Failed', /^Error: InvalidImageName$/);
    assert.deepEqual((await told(space, 'bad')).sort(), [
      'Warning Failed: Error: InvalidImageName',
      `Warning InspectFailed: ${named}`,
    ]);
    const text = `Container image "${never}" is not present with pull policy of Never`;
    assert.equal(waiting(await waitsFor(space, 'never', 'ErrImageNeverPull')), `ErrImageNeverPull: ${text}`);
    await space.waitEvent('never', 'Failed', /^Error: ErrImageNeverPull$/);
    assert.deepEqual((await told(space, 'never')).sort(), [
      `Warning ErrImageNeverPull: ${text}`,
      'Warning Failed: Error: ErrImageNeverPull',
    ]);
    assert.equal(registryAsked(open, 'never/pulled').length, 0, 'policy Never asks no registry');
    const after401 = await waitsFor(space, 'lost', 'ImagePullBackOff');
    assert.equal(waiting(after401), `ImagePullBackOff: Back-off pulling image "${image}": ${lost}`);
    // three tries: the second pause is twice the first
    const tries = await waitFor('three tries of the image that is not there', () => {
      const found = roundsOf(registryAsked(open, 'none/such').map(({ at }) => at));
      return found.length >= 3 ? found : undefined;
    });
    const [one = 0, two = 0, three = 0] = tries;
    assert.ok(two - one >= 9_500, `the second try came after ${two - one} ms`);
    assert.ok(three - two >= 19_500, `the third try came after ${three - two} ms`);
  });

  test('Always asks the registry again for the tag; IfNotPresent takes what is there', async () => {
    const space = await cluster.space('policy');
    const first = await open.push('moving/app');
    const digestOf = (pod: Pod) => statusOf(pod, 'c').imageID.split('@').at(-1);
    assert.equal(digestOf(await ready(space, podWith('one', first.image, [], 'Always'))), first.digest);
    const second = await open.push('moving/app', '1', { config: { Labels: { is: 'another' } } });
    assert.notEqual(second.digest, first.digest);
    assert.equal(digestOf(await ready(space, podWith('kept', first.image))), first.digest);
    const present = `Container image "${first.image}" already present on machine and can be accessed by the pod`;
    assert.equal((await space.waitEvent('kept', 'Pulled')).message, present);
    assert.equal(digestOf(await ready(space, podWith('two', first.image, [], 'Always'))), second.digest);
    const byDigest = `${open.host}/moving/app@${first.digest}`;
    assert.equal(digestOf(await ready(space, podWith('three', byDigest, [], 'Always'))), first.digest);
  });

  test('an image without tag is pulled as latest, and its event says it as the pod does', async () => {
    const space = await cluster.space('latest');
    await open.push('plain/app', 'latest');
    const image = `${open.host}/plain/app`;
    const pod = await ready(space, podWith('p', image));
    assert.equal(statusOf(pod, 'c').image, `${image}:latest`);
    assert.equal((await space.waitEvent('p', 'Pulling')).message, `Pulling image "${image}"`);
  });
});

const registryAsked = ({ gate }: TestRegistry, path: string) => gate.passed.filter((each) => each.path.includes(path));

/** Times at which a new round of requests began: those of one pull come close together, a busy machine allowing. */
function roundsOf(times: readonly number[]): number[] {
  return times.filter((at, i) => i === 0 || at - (times[i - 1] ?? 0) > 7_000);
}

describe('who may use an image that is on the node (KEP-2535)', { concurrency: true }, () => {
  test('a pod without the secret may not use what another pod pulled with it; the right one may', async () => {
    const space = await cluster.space('verify');
    const elsewhere = await cluster.space('verify');
    const { image } = await registry.push('team/private');
    const made = await space.create<{ metadata: { uid: string } }>(pullSecret('opens', ANN));
    await space.create(pullSecret('other', 'ann:guessed'));
    await elsewhere.create(pullSecret('same-login', ANN));
    const owner = await ready(space, podWith('owner', image, ['opens']));
    const imageRef =
      (await cluster.node(NODE).containerd.cri.images()).find((i) => i.repoTags.includes(image))?.id ?? '';
    assert.notEqual(imageRef, '');

    const record = recordFile('pulled', imageRef);
    const text = await readFile(record, 'utf8');
    const { lastUpdatedTime = '' } = JSON.parse(text) as { lastUpdatedTime?: string };
    assert.match(lastUpdatedTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    const credentialHash = createHash('sha256').update('{"username":"ann","password":"ann-opens"}').digest('hex');
    const uid = made.metadata.uid;
    const kubernetesSecrets = [{ uid, namespace: space.name, name: 'opens', credentialHash }];
    const wanted = {
      ...{ kind: 'ImagePulledRecord', apiVersion: 'kubelet.config.k8s.io/v1beta1', lastUpdatedTime, imageRef },
      credentialMapping: { [`${registry.host}/team/private`]: { kubernetesSecrets } },
    };
    assert.equal(text, `${JSON.stringify(wanted)}\n`, 'the record is as kubelet writes it, byte for byte');
    assert.equal((await stat(record)).mode & 0o777, 0o600);
    assert.ok(!text.includes('ann-opens'));

    await space.create(podWith('nobody', image));
    await space.create(podWith('wrong', image, ['other']));
    await space.create(podWith('never', image, [], 'Never'));
    for (const name of ['nobody', 'wrong']) {
      assert.match(waiting(await waitsFor(space, name, 'ErrImagePull')), new RegExp(NOT_ALLOWED));
      await space.waitEvent(name, 'Pulling');
    }
    const hidden = `Container image "${image}" is not present with pull policy of Never`;
    assert.equal(waiting(await waitsFor(space, 'never', 'ErrImageNeverPull')), `ErrImageNeverPull: ${hidden}`);

    const present = `Container image "${image}" already present on machine and can be accessed by the pod`;
    await ready(space, podWith('again', image, ['opens']));
    assert.equal((await space.waitEvent('again', 'Pulled')).message, present);
    await ready(elsewhere, podWith('same', image, ['same-login'], 'Never'));
    assert.equal((await elsewhere.waitEvent('same', 'Pulled')).message, present);
    const noted = JSON.parse(await readFile(record, 'utf8')) as typeof wanted;
    const names = noted.credentialMapping[`${registry.host}/team/private`]?.kubernetesSecrets.map((s) => s.name);
    assert.deepEqual(names, ['opens', 'same-login'], 'a secret with the same login is remembered');
    assert.ok(isReadyPod(await space.get<Pod>('Pod', owner.metadata?.name ?? '')), 'who pulled it runs on');
  });

  test('what was pulled without a login, or with one of the node, is for all; preloaded images are, too', async () => {
    const space = await cluster.space('free');
    const [free, ofNode] = await Promise.all([open.push('free/app'), registry.push('node/app')]);
    for (const [name, { image }] of Object.entries({ free, node: ofNode })) {
      await ready(space, podWith(`${name}-1`, image));
      await ready(space, podWith(`${name}-2`, image, [], 'Never'));
      const id = (await cluster.node(NODE).containerd.cri.images()).find((i) => i.repoTags.includes(image))?.id ?? '';
      const { credentialMapping } = JSON.parse(await readFile(recordFile('pulled', id), 'utf8')) as {
        credentialMapping: object;
      };
      assert.deepEqual(credentialMapping, { [image.slice(0, image.lastIndexOf(':'))]: { nodePodsAccessible: true } });
    }
    await ready(space, podWith('preloaded', BUSYBOX_IMAGE, [], 'Never'));
  });
});

describe('pulls of a node with other settings', () => {
  test('the registry is away and comes back', async () => {
    const space = await cluster.space('away');
    const { image } = await open.push('away/app');
    await open.goAway();
    try {
      await space.create(podWith('p', image));
      const error = waiting(await waitsFor(space, 'p', 'ErrImagePull'));
      assert.match(error, /^ErrImagePull: .*dial tcp 127\.0\.0\.1:\d+: connect: connection refused$/);
    } finally {
      await open.comeBack();
    }
    await space.waitPod('p', 'ready', isReadyPod);
  });

  test('serial pulls come one after the other; the pull of a deleted pod holds up no other', async () => {
    const space = await cluster.space('serial');
    const images = await Promise.all(['serial/a', 'serial/b'].map((each) => open.push(each)));
    open.gate.hold(/\/v2\/serial\/.*\/(manifests|blobs)\//);
    try {
      await space.create(podWith('a', images[0]?.image ?? ''));
      await waitFor('the first pull', () => (open.gate.held().length > 0 ? true : undefined));
      const pulling = await readdir(join(cluster.node(NODE).agentRoot, 'image_manager', 'pulling'));
      const intent = recordFile('pulling', images[0]?.image ?? '');
      // pods of the tests before this one may wait for their turn, too
      assert.ok(pulling.includes(basename(intent)), pulling.join(' '));
      const text = { kind: 'ImagePullIntent', apiVersion: 'kubelet.config.k8s.io/v1beta1', image: images[0]?.image };
      assert.equal(await readFile(intent, 'utf8'), `${JSON.stringify(text)}\n`);

      await space.create(podWith('b', images[1]?.image ?? ''));
      await space.waitEvent('b', 'Pulling');
      assert.deepEqual([...new Set(open.gate.held().map(repository))], ['serial/a']);
      const gone = await space.get<Pod>('Pod', 'a');
      await space.remove('Pod', 'a', { gracePeriodSeconds: 1 });
      // kubelet goes on with the pull, and with the pod until the pull has ended
      if (cluster.node(NODE).kind === 'kubelet') {
        open.gate.hold(/\/v2\/serial\/b\/(manifests|blobs)\//);
        open.gate.release(/serial\/a/);
      }
      await space.waitGone(gone);
      await waitFor('the second pull, and no longer the first', () => {
        const held = open.gate.held().map(repository);
        return held.includes('serial/b') && !held.includes('serial/a') ? true : undefined;
      });
    } finally {
      open.gate.release();
    }
    await space.waitPod('b', 'ready', isReadyPod);
    await waitFor('no pull to be under way', async () =>
      (await readdir(join(cluster.node(NODE).agentRoot, 'image_manager', 'pulling'))).length === 0 ? true : undefined,
    );
  });

  test('parallel pulls are as many as maxParallelImagePulls', async () => {
    const back = await reconfigured({ serializeImagePulls: false, maxParallelImagePulls: 2 });
    try {
      const space = await cluster.space('parallel');
      const images = await Promise.all(Array.from({ length: 8 }, (_, i) => open.push(`par/i${i}`)));
      open.gate.hold(/\/v2\/par\/.*\/(manifests|blobs)\//);
      await Promise.all(images.map(({ image }, i) => space.create(podWith(`p${i}`, image))));
      for (const i of images.keys()) await space.waitEvent(`p${i}`, 'Pulling');
      const held = await waitFor('two pulls', () => {
        const found = new Set(open.gate.held().map(repository));
        return found.size >= 2 ? found : undefined;
      });
      assert.equal(held.size, 2, 'the others wait');
      open.gate.release();
      for (const i of images.keys()) await space.waitPod(`p${i}`, 'ready', isReadyPod);
    } finally {
      open.gate.release();
      await back();
    }
  });

  test('QPS and burst hold pulls back', async () => {
    const back = await reconfigured({ serializeImagePulls: false, registryPullQPS: 1, registryBurst: 1 });
    try {
      const space = await cluster.space('often');
      // quickly asked for and quickly not there: more of them than one a second, whatever the machine does besides
      const wanted = Array.from({ length: 8 }, (_, i) => runs(`c${i}`, { image: `${open.host}/none/often-${i}:1` }));
      await space.create(apiPod('p', wanted, { terminationGracePeriodSeconds: 1 }));
      const [name, text] = await waitFor('a pull that is too much', async () => {
        const statuses = (await space.pod('p'))?.status?.containerStatuses ?? [];
        const found = statuses.find((c) => c.state?.waiting?.message?.endsWith('pull QPS exceeded') === true);
        const { reason = '', message = '' } = found?.state?.waiting ?? {};
        return found && ([found.name, `${reason}: ${message}`] as const);
      });
      assert.match(text, /ErrImagePull: pull QPS exceeded$/);
      const image = `${open.host}/none/often-${name.slice(1)}:1`;
      await space.waitEvent('p', 'Failed', new RegExp(`^Failed to pull image "${image}": pull QPS exceeded$`));
      await space.remove('Pod', 'p');
    } finally {
      await back();
    }
  });

  test('AlwaysVerify trusts no preloaded image; NeverVerify trusts all; a list trusts what it names', async () => {
    const space = await cluster.space('modes');
    await space.create(pullSecret('opens', ANN));
    const { image } = await registry.push('team/modes');
    await ready(space, podWith('owner', image, ['opens']));
    let back = await reconfigured({ imagePullCredentialsVerificationPolicy: 'AlwaysVerify' });
    try {
      await space.create(podWith('preloaded', BUSYBOX_IMAGE));
      await space.create(podWith('preloaded-never', BUSYBOX_IMAGE, [], 'Never'));
      await waitsFor(space, 'preloaded', 'ErrImagePull');
      const hidden = `ErrImageNeverPull: Container image "${BUSYBOX_IMAGE}" is not present with pull policy of Never`;
      assert.equal(waiting(await waitsFor(space, 'preloaded-never', 'ErrImageNeverPull')), hidden);
      await ready(space, podWith('recorded', image, ['opens'], 'Never'));
    } finally {
      await back();
    }
    back = await reconfigured({ imagePullCredentialsVerificationPolicy: 'NeverVerify' });
    try {
      await ready(space, podWith('trusted', image, [], 'Never'));
    } finally {
      await back();
    }
    back = await reconfigured({
      imagePullCredentialsVerificationPolicy: 'NeverVerifyAllowlistedImages',
      preloadedImagesVerificationAllowlist: ['localhost/actorlet/*'],
    });
    try {
      await ready(space, podWith('listed', BUSYBOX_IMAGE, [], 'Never'));
      await space.create(podWith('unlisted', image, [], 'Never'));
      await waitsFor(space, 'unlisted', 'ErrImageNeverPull');
    } finally {
      await back();
    }
    back = await reconfigured({
      featureGates: {
        KubeletEnsureSecretPulledImages: false,
        ...(cluster.node(NODE).kind === 'kubelet' && { KubeletInUserNamespace: true }),
      },
    });
    try {
      await ready(space, podWith('ungated', image, [], 'Never'));
      const present = `Container image "${image}" already present on machine`;
      assert.equal((await space.waitEvent('ungated', 'Pulled')).message, present);
    } finally {
      await back();
    }
  });
});

const repository = (path: string) => path.replace(/^\/v2\/(.*?)\/(manifests|blobs)\/.*$/, '$1');
