import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkAppArmor } from '../../../machines/admission/app-armor.ts';
import { checkSysctls, safeSysctls } from '../../../machines/admission/sysctls.ts';
import { normalSysctl } from '../../../machines/sandbox-config/sysctl-name.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { container, pod } from './admission-input.ts';

describe('sysctls', () => {
  const check = (name: string, allowed: string[], spec: Partial<NonNullable<Pod['spec']>> = {}): string | undefined =>
    checkSysctls(pod('p', { ...spec, securityContext: { sysctls: [{ name, value: '1' }] } }), () => allowed)?.message;

  const CASES: [string, string[], Partial<NonNullable<Pod['spec']>>, string | undefined][] = [
    ['kernel.shm_rmid_forced', safeSysctls('6.1'), {}, undefined],
    ['kernel.sem', safeSysctls('6.1'), {}, 'forbidden sysctl: "kernel.sem" not allowlisted'],
    ['kernel.sem', ['kernel.sem'], {}, undefined],
    ['net.core.somaxconn', ['net.*'], {}, undefined],
    ['net/core/somaxconn', ['net.core.*'], {}, undefined],
    ['kernel.shmmax', ['kernel.shm*'], {}, undefined],
    ['kernel.msgmax', ['kernel.shm*'], {}, 'forbidden sysctl: "kernel.msgmax" not allowlisted'],
    [
      'kernel.shmmax',
      ['kernel.shm*'],
      { hostIPC: true },
      'forbidden sysctl: "kernel.shmmax" not allowed with host IPC enabled',
    ],
    ['kernel.shmmax', ['kernel.shmmax'], { hostNetwork: true }, undefined],
    [
      'net.ipv4.tcp_syncookies',
      safeSysctls('6.1'),
      { hostNetwork: true },
      'forbidden sysctl: "net.ipv4.tcp_syncookies" not allowed with host Net enabled',
    ],
    [
      'net.core.somaxconn',
      ['net.*'],
      { hostNetwork: true },
      'forbidden sysctl: "net.core.somaxconn" not allowed with host Net enabled',
    ],
    [
      'fs.mqueue.msg_max',
      ['fs.mqueue.*'],
      { hostIPC: true },
      'forbidden sysctl: "fs.mqueue.msg_max" not allowed with host IPC enabled',
    ],
  ];
  for (const [name, allowed, spec, expected] of CASES) {
    test(`${name} by ${allowed.slice(0, 2).join()} ${JSON.stringify(spec)}: ${expected ?? 'allowed'}`, () => {
      assert.equal(check(name, allowed, spec), expected);
    });
  }

  test('safe ones depend on the kernel', () => {
    assert.equal(safeSysctls('6.1.0-13-amd64').length, 12);
    assert.equal(safeSysctls('4.15').length, 12);
    assert.equal(safeSysctls('4.14.9').includes('net.ipv4.tcp_rmem'), false);
    assert.equal(safeSysctls('4.5').includes('net.ipv4.tcp_fin_timeout'), false);
    assert.equal(safeSysctls(undefined).length, 5);
  });

  test('slashes and dots change places when the first sign is a slash', () => {
    assert.equal(normalSysctl('net/ipv4/conf/eno2.100/rp_filter'), 'net.ipv4.conf.eno2/100.rp_filter');
    assert.equal(normalSysctl('net.ipv4.conf.eno2/100.rp_filter'), 'net.ipv4.conf.eno2/100.rp_filter');
    assert.equal(normalSysctl(''), '');
  });
});

describe('AppArmor', () => {
  const confined = (type: string, localhostProfile?: string): Pod =>
    pod('p', {
      containers: [
        container('main', undefined, {
          securityContext: {
            appArmorProfile: { type, ...(localhostProfile === undefined ? {} : { localhostProfile }) },
          },
        }),
      ],
    });

  test('pods that want no profile start on any node', () => {
    assert.equal(checkAppArmor(pod('p'), false), null);
    assert.equal(checkAppArmor(confined('Unconfined'), false), null);
  });

  test('a profile needs a node with AppArmor', () => {
    const message = 'Cannot enforce AppArmor: AppArmor is not enabled on the host';
    assert.equal(checkAppArmor(confined('Localhost', 'mine'), false)?.message, message);
    assert.equal(checkAppArmor(confined('Localhost', 'mine'), true), null);
    const annotated = pod(
      'p',
      {},
      { annotations: { 'container.apparmor.security.beta.kubernetes.io/main': 'runtime/default' } },
    );
    assert.equal(checkAppArmor(annotated, false)?.message, message);
    assert.equal(checkAppArmor(annotated, true), null);
  });

  test('a profile of the node needs a name', () => {
    const message = (name: string): string =>
      `Cannot enforce AppArmor: invalid empty AppArmor profile name: "&AppArmorProfile{Type:Localhost,LocalhostProfile:${name},}"`;
    assert.equal(checkAppArmor(confined('Localhost'), true)?.message, message('nil'));
    assert.equal(checkAppArmor(confined('Localhost', ' '), true)?.message, message('* '));
    assert.equal(checkAppArmor(confined('Localhost', ''), true)?.message, message('*'));
  });
});
