import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { ALL_BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { parseResolvConf } from '../../../machines/sandbox-config/resolv-conf.ts';
import { podDns } from '../../../machines/sandbox-config/dns.ts';
import { kernelHostname, podHostname } from '../../../machines/sandbox-config/pod-hostname.ts';
import { sortPodIPs } from '../../../machines/sandbox-config/pod-ips.ts';
import { sandboxConfig, sandboxConfigError, sandboxWarnings } from '../../../machines/sandbox-config/sandbox-config.ts';
import { nodeSettings } from '../qos/node-settings.ts';

interface DnsVector {
  cluster: boolean;
  pod: Pod;
  servers: string[] | null;
  searches: string[] | null;
  options: string[] | null;
  events: string[];
}
const dnsVectors = JSON.parse(
  readFileSync(new URL('./kubelet-dns-vectors.json', import.meta.url), 'utf8'),
) as DnsVector[];

const pod = (spec: Partial<NonNullable<Pod['spec']>>, metadata: Pod['metadata'] = {}): Pod => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'u-1', ...metadata },
  spec: { containers: [{ name: 'a' }], ...spec },
});

test('resolver settings and their warnings are the kubelet’s', () => {
  assert.ok(dnsVectors.length >= 18);
  for (const vector of dnsVectors) {
    const { dns, warnings } = podDns(vector.pod, {
      clusterDNS: vector.cluster ? ['10.96.0.10'] : [],
      clusterDomain: 'cluster.local',
      nodeIPs: ['192.168.0.2'],
      hostResolver: {
        nameservers: ['10.1.1.1', '10.1.1.2'],
        searches: ['corp.example', 'lan'],
        options: ['timeout:1', 'rotate'],
      },
    });
    const what = JSON.stringify(vector.pod.spec);
    assert.deepEqual(dns.servers, vector.servers ?? [], what);
    assert.deepEqual(dns.searches, vector.searches ?? [], what);
    // The kubelet's order is that of a Go map: any.
    assert.deepEqual([...dns.options].sort(), [...(vector.options ?? [])].sort(), what);
    // The kubelet also tells the node of a missing cluster DNS; that event has no pod in front.
    const events = vector.events.filter((event) => !event.startsWith('Warning MissingClusterDNS kubelet'));
    assert.deepEqual(
      warnings.map(({ reason, message }) => `Warning ${reason} ${message}`),
      events,
      what,
    );
  }
});

test('a node without a resolver points at itself', () => {
  const settings = nodeSettings({
    hostResolver: { nameservers: [], searches: [], options: [] },
    nodeIPs: ['192.168.0.2', 'fd00::2'],
  });
  const { dns } = podDns(pod({ dnsPolicy: 'Default' }), settings);
  assert.deepEqual(dns, { servers: ['127.0.0.1', '::1'], searches: ['.'], options: [] });
});

test('a resolver file that says nothing is taken at its word, and one that was read for this sandbox counts', () => {
  const settings = nodeSettings({ resolvConf: '/etc/resolv.conf', clusterDNS: [] });
  const none = { nameservers: [], searches: [], options: [] };
  const { dns } = podDns(pod({ dnsPolicy: 'Default' }), settings, none);
  assert.deepEqual(dns, { servers: [], searches: [], options: [] });
  const now = { nameservers: ['10.1.1.9'], searches: ['lan'], options: ['rotate'] };
  assert.deepEqual(sandboxConfig(pod({ dnsPolicy: 'Default' }), 0, settings, { resolver: now }).dnsConfig, {
    servers: ['10.1.1.9'],
    searches: ['lan'],
    options: ['rotate'],
  });
});

test('a resolver file is read as kubelet reads it', () => {
  const text =
    ' # search no\n; no\nnameserver 10.0.0.1 x\nsearch a\nsearch b. . c\noptions ndots:1 rotate\noptions ndots:3\nnameserver ::1';
  assert.deepEqual(parseResolvConf(text), {
    nameservers: ['10.0.0.1', '::1'],
    searches: ['b', 'c'],
    options: ['ndots:3', 'rotate'],
  });
  assert.deepEqual(parseResolvConf('nameserver 10.0.0.1\nnameserver\n'), {
    error: 'Encountered error while parsing resolv conf file. Error: nameserver list is empty ',
  });
});

test('host names: own, overridden, cut, FQDN', () => {
  const long = 'n'.repeat(62);
  const cases: [Pod, unknown][] = [
    [pod({}), { hostname: 'web', domain: '' }],
    [pod({ hostname: 'h', subdomain: 's' }), { hostname: 'h', domain: 's.shop.svc.cluster.local' }],
    [pod({ hostnameOverride: 'a.b.c', subdomain: 's' }), { hostname: 'a.b.c', domain: '' }],
    [pod({}, { name: `${long}-.tail` }), { hostname: long, domain: '' }],
  ];
  for (const [p, want] of cases) assert.deepEqual(podHostname(p, 'cluster.local'), want);
  const bad = podHostname(pod({ hostname: 'Not_A_Label' }), 'cluster.local');
  assert.ok('error' in bad && bad.error.startsWith('pod Hostname "Not_A_Label" is not a valid DNS label: '));
  const fqdn = pod({ hostname: 'h', subdomain: 's', setHostnameAsFQDN: true });
  assert.deepEqual(kernelHostname(fqdn, 'cluster.local'), { hostname: 'h.s.shop.svc.cluster.local' });
  const tooLong = pod({ hostname: 'h'.repeat(60), subdomain: 's', setHostnameAsFQDN: true });
  const failed = kernelHostname(tooLong, 'cluster.local');
  assert.ok(
    'error' in failed && /is too long \(64 characters is the max, 85 characters requested\)$/.test(failed.error),
  );
  assert.match(sandboxConfigError(tooLong, nodeSettings()) ?? '', /^failed to construct FQDN/);
  assert.equal(
    sandboxConfigError({ ...tooLong, spec: { ...tooLong.spec, containers: [], hostNetwork: true } }, nodeSettings()),
    null,
  );
});

test('addresses are sorted by the node’s primary family, one each', () => {
  assert.deepEqual(sortPodIPs(['fd00::1', '10.0.0.1', '10.0.0.2'], ['192.168.0.2']), ['10.0.0.1', 'fd00::1']);
  assert.deepEqual(sortPodIPs(['10.0.0.1', 'fd00::1'], ['fd00::9']), ['fd00::1', '10.0.0.1']);
  assert.deepEqual(sortPodIPs(['', 'fd00::1'], []), ['fd00::1']);
});

test('a whole sandbox config', () => {
  const p = pod(
    {
      shareProcessNamespace: true,
      overhead: { cpu: '100m', memory: '10Mi' },
      securityContext: {
        runAsUser: 1000,
        runAsGroup: 0,
        fsGroup: 2000,
        supplementalGroups: [3000],
        supplementalGroupsPolicy: 'Strict',
        sysctls: [{ name: 'net.ipv4.tcp_syncookies', value: '1' }],
        seLinuxOptions: { level: 's0' },
      },
      initContainers: [
        { name: 'i', ports: [{ containerPort: 1, hostPort: 1 }], securityContext: { privileged: true } },
      ],
      containers: [
        {
          name: 'a',
          ports: [
            { containerPort: 80, hostPort: 8080 },
            { containerPort: 80, hostPort: 8080, protocol: 'TCP' },
            { containerPort: 53, protocol: 'UDP', hostIP: '::1' },
            { name: 'x', containerPort: 1, protocol: 'SCTP' },
            { name: 'x', containerPort: 2 },
          ],
          resources: { limits: { cpu: '500m', memory: '64Mi' } },
        },
      ],
    },
    { labels: { app: 'web', 'io.kubernetes.pod.name': 'lie' }, annotations: { note: 'n' } },
  );
  assert.deepEqual(sandboxConfig(p, 3, nodeSettings()), {
    metadata: { name: 'web', uid: 'u-1', namespace: 'shop', attempt: 3 },
    hostname: 'web',
    logDirectory: '/var/log/pods/shop_web_u-1',
    dnsConfig: { servers: ['10.1.1.1'], searches: ['lan'], options: [] },
    portMappings: [
      { protocol: 0, containerPort: 80, hostPort: 8080, hostIp: '' },
      { protocol: 1, containerPort: 53, hostPort: 0, hostIp: '::1' },
      { protocol: 2, containerPort: 1, hostPort: 0, hostIp: '' },
    ],
    labels: {
      app: 'web',
      'io.kubernetes.pod.name': 'web',
      'io.kubernetes.pod.namespace': 'shop',
      'io.kubernetes.pod.uid': 'u-1',
    },
    annotations: { note: 'n' },
    linux: {
      cgroupParent: '/kubepods/burstable/podu-1',
      securityContext: {
        namespaceOptions: { network: 0, pid: 0, ipc: 0 },
        privileged: true,
        seccomp: { profileType: 0 },
        supplementalGroups: ['2000', '3000'],
        supplementalGroupsPolicy: 1,
        runAsUser: { value: '1000' },
        runAsGroup: { value: '0' },
        selinuxOptions: { user: '', role: '', type: '', level: 's0' },
      },
      sysctls: { 'net.ipv4.tcp_syncookies': '1' },
      resources: { cpuShares: '512', memoryLimitInBytes: '67108864', cpuQuota: '50000', cpuPeriod: '100000' },
      overhead: { cpuShares: '102', memoryLimitInBytes: '10485760', cpuQuota: '10000', cpuPeriod: '100000' },
    },
  });
  assert.equal(sandboxWarnings(p, nodeSettings())[0]?.reason, 'MissingClusterDNS');
});

test('host namespaces, cgroup v2', () => {
  const p = pod({ hostNetwork: true, hostPID: true, hostIPC: true });
  const config = sandboxConfig(p, 0, nodeSettings({ cgroupVersion: 2, cpuCFSQuota: false }));
  assert.equal(config.hostname, '');
  assert.deepEqual(config.linux.securityContext.namespaceOptions, { network: 2, pid: 2, ipc: 2 });
  assert.deepEqual(config.linux.resources, { cpuShares: '2', unified: { 'memory.oom.group': '1' } });
  assert.equal(sandboxConfig(pod({}), 0, nodeSettings()).linux.securityContext.namespaceOptions.pid, 1);
});

test('sysctls are named with dots, as older runtimes want them; a journal from before keeps its spelling', () => {
  const sysctls = [
    { name: 'kernel/shm_rmid_forced', value: '1' },
    { name: 'net/ipv4/conf/eno2.100/rp_filter', value: '2' },
    { name: 'net.ipv4.ip_local_port_range', value: '1 2' },
  ];
  const p = pod({ securityContext: { sysctls } });
  const names = (behaviour: readonly number[]): string[] =>
    Object.keys(sandboxConfig(p, 0, nodeSettings({ behaviour: [...behaviour] })).linux.sysctls);
  assert.deepEqual(names(ALL_BEHAVIOUR), [
    'kernel.shm_rmid_forced',
    'net.ipv4.conf.eno2/100.rp_filter',
    'net.ipv4.ip_local_port_range',
  ]);
  assert.deepEqual(
    names([]),
    sysctls.map(({ name }) => name),
  );
});
