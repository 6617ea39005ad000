import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { isReady } from './support/seen.ts';
import { podOf, runs } from './support/test-pod.ts';
import { NODE_NAME, TestNode } from './support/test-node.ts';

describe('what a container finds around it, on a real node', { concurrency: 8 }, () => {
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

  /** What a shell script prints in a running container. */
  async function run(pod: string, container: string, script: string): Promise<string> {
    const id = (await node.running(pod))[container];
    assert.ok(id !== undefined, `${container} of ${pod} does not run`);
    const { code, out } = await node.containerd.cri.exec(id, ['sh', '-c', script]);
    assert.equal(code, 0, out);
    return out;
  }

  it('its environment: fields, resources and other variables', async () => {
    const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
    const env = [
      field('NAME', 'metadata.name'),
      field('SPACE', 'metadata.namespace'),
      field('UID', 'metadata.uid'),
      field('IP', 'status.podIP'),
      field('HOST_IP', 'status.hostIP'),
      field('NODE', 'spec.nodeName'),
      field('LABEL', "metadata.labels['tier']"),
      { name: 'MEMORY', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
      { name: 'GREETING', value: 'hello $(NAME), not $$(NAME), not $(NOBODY)' },
    ];
    const c = runs('a', { env, workingDir: '/tmp', resources: { limits: { memory: '32Mi' } } });
    await node.write('env.json', podOf('env', [c], {}, { labels: { tier: 'front' } }));
    const pod = await node.waitPod('env', 'ready', isReady);
    const out = await run(
      'env',
      'a',
      'pwd; for v in NAME SPACE UID IP HOST_IP NODE LABEL MEMORY GREETING; do eval echo "$v=\\"\\$$v\\""; done',
    );
    assert.deepEqual(out.trimEnd().split('\n'), [
      '/tmp',
      `NAME=env-${NODE_NAME}`,
      'SPACE=default',
      `UID=${pod.metadata?.uid ?? ''}`,
      `IP=${pod.status?.podIP ?? ''}`,
      `HOST_IP=${pod.status?.hostIP ?? ''}`,
      `NODE=${NODE_NAME}`,
      'LABEL=front',
      'MEMORY=32',
      `GREETING=hello env-${NODE_NAME}, not $(NAME), not $(NOBODY)`,
    ]);
  });

  it('its names: /etc/hosts, host name and resolver', async () => {
    await node.write(
      'names.json',
      podOf('names', [runs('a')], {
        hostAliases: [{ ip: '10.1.2.3', hostnames: ['db', 'db.example'] }],
        dnsPolicy: 'None',
        dnsConfig: {
          nameservers: ['10.9.9.9', '10.9.9.8'],
          searches: ['a.example', 'b.example'],
          options: [{ name: 'ndots', value: '3' }, { name: 'edns0' }],
        },
      }),
    );
    await node.write('plain.json', podOf('plain', [runs('a')], { dnsPolicy: 'Default', hostname: 'given' }));
    const pod = await node.waitPod('names', 'ready', isReady);
    const hosts = await run('names', 'a', 'cat /etc/hosts');
    assert.match(hosts, /^# Kubernetes-managed hosts file/);
    const lines = hosts.split('\n').map((l) => l.split(/\s+/).join(' '));
    assert.ok(lines.includes(`${pod.status?.podIP ?? ''} names-${NODE_NAME}`), hosts);
    assert.ok(lines.includes('10.1.2.3 db db.example'), hosts);
    assert.equal(await run('names', 'a', 'hostname'), `names-${NODE_NAME}\n`);
    const resolver = await run('names', 'a', 'cat /etc/resolv.conf');
    assert.deepEqual(resolver.trimEnd().split('\n').sort(), [
      'nameserver 10.9.9.8',
      'nameserver 10.9.9.9',
      'options ndots:3 edns0',
      'search a.example b.example',
    ]);

    await node.waitPod('plain', 'ready', isReady);
    assert.equal(await run('plain', 'a', 'hostname'), 'given\n');
    const words = (text: string) => text.split('\n').filter((l) => l.startsWith('nameserver'));
    assert.deepEqual(
      words(await run('plain', 'a', 'cat /etc/resolv.conf')),
      words(await readFile('/etc/resolv.conf', 'utf8')),
    );
  });

  it('its network: an address of its own that others reach, or the node’s', async () => {
    const www = runs('a', {
      command: ['sh', '-c', 'mkdir /w; echo page > /w/index.html; exec httpd -f -p 8080 -h /w'],
      // A container that runs need not listen yet: ready is what the test waits for.
      readinessProbe: { httpGet: { port: 8080, path: '/' }, periodSeconds: 1 },
    });
    await node.write('own-net.json', podOf('own-net', [www, runs('b')]));
    await node.write('host-net.json', podOf('host-net', [runs('a')], { hostNetwork: true }));
    const own = await node.waitPod('own-net', 'ready', isReady);
    const host = await node.waitPod('host-net', 'ready', isReady);
    const ip = own.status?.podIP ?? '';
    assert.deepEqual(own.status?.podIPs, [{ ip }]);
    assert.equal(await (await fetch(`http://${ip}:8080/`)).text(), 'page\n');
    assert.equal(await run('own-net', 'b', 'wget -q -O - http://127.0.0.1:8080/'), 'page\n');
    assert.equal(await run('host-net', 'a', `wget -q -O - http://${ip}:8080/`), 'page\n');
    assert.equal(host.status?.podIP, host.status?.hostIP);
    const nodeNet = await readlink('/proc/self/ns/net');
    assert.equal((await run('host-net', 'a', 'readlink /proc/self/ns/net')).trim(), nodeNet);
    assert.notEqual((await run('own-net', 'a', 'readlink /proc/self/ns/net')).trim(), nodeNet);
    assert.equal(
      (await run('host-net', 'a', 'hostname')).trim(),
      (await readFile('/proc/sys/kernel/hostname', 'utf8')).trim(),
    );
  });

  it('its volumes: shared, in memory, of the node, read-only, parts of one', async () => {
    const host = join(node.rootDir, 'host');
    await mkdir(host);
    await writeFile(join(host, 'file'), 'from the node\n');
    const mount = (name: string, mountPath: string, more: object = {}) => ({ name, mountPath, ...more });
    const writer = runs('w', {
      volumeMounts: [
        mount('shared', '/s'),
        mount('fast', '/f'),
        mount('made', '/made'),
        mount('shared', '/part', { subPath: 'x/y' }),
      ],
    });
    const reader = runs('r', {
      volumeMounts: [mount('shared', '/s', { readOnly: true }), mount('file', '/etc/given', { readOnly: true })],
    });
    await node.write(
      'vols.json',
      podOf('vols', [writer, reader], {
        volumes: [
          { name: 'shared', emptyDir: {} },
          { name: 'fast', emptyDir: { medium: 'Memory', sizeLimit: '4Mi' } },
          { name: 'made', hostPath: { path: join(host, 'made'), type: 'DirectoryOrCreate' } },
          { name: 'file', hostPath: { path: join(host, 'file'), type: 'File' } },
        ],
      }),
    );
    await node.waitPod('vols', 'ready', isReady);
    await run('vols', 'w', 'echo shared > /s/one; echo part > /part/two; echo made > /made/three');
    assert.equal(await run('vols', 'r', 'cat /s/one /s/x/y/two /etc/given'), 'shared\npart\nfrom the node\n');
    assert.equal(await readFile(join(host, 'made', 'three'), 'utf8'), 'made\n');
    assert.match(await run('vols', 'w', 'grep " /f " /proc/mounts'), /^tmpfs /);
    assert.match(await run('vols', 'r', 'touch /s/no 2>&1 || true'), /[Rr]ead-only file system/);
    await node.write(
      'no-path.json',
      podOf('no-path', [runs('a', { volumeMounts: [mount('v', '/v')] })], {
        volumes: [{ name: 'v', hostPath: { path: join(host, 'absent'), type: 'Directory' } }],
      }),
    );
    await node.waitPod('no-path', 'not started', (p) => p.status?.phase === 'Pending');
    const events = await waitEvents('no-path', /^FailedMount: /);
    assert.match(events, /absent/);
    assert.deepEqual(await node.running('no-path'), {});
    // it begins once the folder is there
    await mkdir(join(host, 'absent'));
    await node.waitPod('no-path', 'ready', isReady);
  });

  it('its user and its rights', async () => {
    await node.write(
      'rights.json',
      podOf(
        'rights',
        [
          runs('a', {
            securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] }, runAsGroup: 3000 },
          }),
          runs('p', { securityContext: { privileged: true, runAsUser: 0 } }),
        ],
        {
          securityContext: { runAsUser: 1000, fsGroup: 2000, supplementalGroups: [4000] },
          volumes: [{ name: 'v', emptyDir: {} }],
        },
      ),
    );
    await node.waitPod('rights', 'ready', isReady);
    assert.match(
      await run('rights', 'a', 'id -u; id -g; id -G | tr " " "\\n" | sort -n | tr "\\n" " "'),
      /^1000\n3000\n.*2000.*3000.*4000/s,
    );
    assert.match(await run('rights', 'a', 'touch /x 2>&1 || true'), /[Rr]ead-only file system|Permission denied/);
    assert.match(await run('rights', 'a', 'grep CapEff /proc/self/status'), /0000000000000000/);
    assert.match(
      await run('rights', 'p', 'grep CapEff /proc/self/status; id -u'),
      /CapEff:\s+[0-9a-f]*[1-9a-f][0-9a-f]*\n0\n/,
    );
  });

  it('its share of the machine: cgroups by class of service', async () => {
    const res = (cpu: string, memory: string) => ({ cpu, memory });
    await node.write(
      'burst.json',
      podOf('burst', [runs('a', { resources: { requests: res('100m', '16Mi'), limits: res('200m', '64Mi') } })]),
    );
    await node.write(
      'sure.json',
      podOf('sure', [runs('a', { resources: { requests: res('100m', '32Mi'), limits: res('100m', '32Mi') } })]),
    );
    await node.write('best.json', podOf('best', [runs('a')]));
    const [burst, sure, best] = await Promise.all(
      ['burst', 'sure', 'best'].map((n) => node.waitPod(n, 'ready', isReady)),
    );
    assert.deepEqual(
      [burst, sure, best].map((p) => p?.status?.qosClass),
      ['Burstable', 'Guaranteed', 'BestEffort'],
    );
    const kubepods = join(node.cgroupRoot, 'kubepods');
    const ids = await Promise.all(['burst', 'sure', 'best'].map(async (n) => (await node.running(n))['a'] ?? ''));
    const Mi = 1024 * 1024;
    const expected = [
      [join(kubepods, 'burstable', `pod${burst?.metadata?.uid ?? ''}`), 64 * Mi, 20_000, 102],
      [join(kubepods, `pod${sure?.metadata?.uid ?? ''}`), 32 * Mi, 10_000, 102],
      [join(kubepods, 'besteffort', `pod${best?.metadata?.uid ?? ''}`), null, null, 2],
    ] as const;
    for (const [i, [path, memory, quota, shares]] of expected.entries()) {
      for (const cgroup of [path, join(path, ids[i] ?? '')]) {
        assert.deepEqual(await limitsOf(cgroup), { memory, quota, shares }, cgroup);
      }
    }
  });

  async function waitEvents(pod: string, words: RegExp): Promise<string> {
    const { waitFor } = await import('../../tools/wait-for.ts');
    return waitFor(`event ${String(words)} of ${pod}`, async () => (await node.events(pod)).find((e) => words.test(e)));
  }
});

/** Limits of a cgroup in bytes, µs of each 100 ms, and cpu shares (v1; a weight of v2 is turned back); null for none. */
async function limitsOf(cgroup: string): Promise<{ memory: number | null; quota: number | null; shares: number }> {
  const read = async (...path: string[]) => (await readFile(join('/sys/fs/cgroup', ...path), 'utf8')).trim();
  if (existsSync('/sys/fs/cgroup/cgroup.controllers')) {
    const [memory = '', cpu = '', weight = ''] = await Promise.all(
      ['memory.max', 'cpu.max', 'cpu.weight'].map((f) => read(cgroup, f)),
    );
    const [quota = 'max'] = cpu.split(' ');
    return {
      memory: memory === 'max' ? null : Number(memory),
      quota: quota === 'max' ? null : Number(quota),
      shares: Math.round(((Number(weight) - 1) * 262_142) / 9_999 + 2),
    };
  }
  const cpu = (await readdir('/sys/fs/cgroup')).find((name) => name.split(',').includes('cpu')) ?? 'cpu';
  const [memory, quota, shares] = await Promise.all([
    read('memory', cgroup, 'memory.limit_in_bytes'),
    read(cpu, cgroup, 'cpu.cfs_quota_us'),
    read(cpu, cgroup, 'cpu.shares'),
  ]);
  return {
    memory: Number(memory) > 2 ** 60 ? null : Number(memory),
    quota: Number(quota) < 0 ? null : Number(quota),
    shares: Number(shares),
  };
}
