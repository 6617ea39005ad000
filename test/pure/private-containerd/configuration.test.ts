import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseContainerdVersion } from '../../../cri/private-containerd/binaries.ts';
import { containerdConfig } from '../../../cri/private-containerd/containerd-config.ts';
import { containerdLayout } from '../../../cri/private-containerd/layout.ts';
import { RESTART_BACK_OFF, RestartDelay } from '../../../cri/private-containerd/start-private-containerd.ts';

const base = {
  layout: containerdLayout('/srv/agent'),
  facts: { canLowerOomScore: false, appArmor: false, snapshotter: 'native' as const },
  cniBinDir: '/usr/lib/cni',
  sandboxImage: 'localhost/actorlet/pause:1',
  cgroupDriver: 'cgroupfs' as const,
  runtimeHandlers: ['test-handler'],
  registryHosts: null,
};

describe('parseContainerdVersion', () => {
  it("reads Debian's and upstream's words", () => {
    const debian = 'containerd github.com/containerd/containerd 1.6.20~ds1 1.6.20~ds1-1+deb12u3';
    assert.deepEqual(parseContainerdVersion(debian), { major: 1, minor: 6, patch: 20 });
    const upstream = 'containerd github.com/containerd/containerd/v2 v2.1.4 75cb2b7193e4';
    assert.deepEqual(parseContainerdVersion(upstream), { major: 2, minor: 1, patch: 4 });
    assert.throws(() => parseContainerdVersion('nonsense'), /RTM004.*nonsense/);
  });
});

describe('containerdConfig', () => {
  it('is version 2 for containerd 1.x, with what this machine lacks switched off', () => {
    const text = containerdConfig({ ...base, version: { major: 1, minor: 6, patch: 20 } });
    assert.match(text, /^version = 2$/m);
    assert.match(text, /sandbox_image = "localhost\/actorlet\/pause:1"/);
    assert.match(text, /restrict_oom_score_adj = true/);
    assert.match(text, /disable_apparmor = true/);
    assert.match(text, /snapshotter = "native"/);
    assert.match(text, /runtimes\."test-handler"\]/);
    assert.match(text, /SystemdCgroup = false/);
  });

  it('is version 3 for containerd 2, with the spelling of its minor version', () => {
    const facts = { canLowerOomScore: true, appArmor: true, snapshotter: 'overlayfs' as const };
    const newer = containerdConfig({ ...base, facts, version: { major: 2, minor: 1, patch: 0 } });
    assert.match(newer, /^version = 3$/m);
    assert.match(newer, /bin_dirs = \["\/usr\/lib\/cni"\]/);
    assert.match(newer, /sandbox = "localhost\/actorlet\/pause:1"/);
    assert.match(newer, /disable_apparmor = false/);
    assert.match(
      containerdConfig({ ...base, version: { major: 2, minor: 0, patch: 0 } }),
      /bin_dir = "\/usr\/lib\/cni"/,
    );
  });
});

describe('mirrors of registries', () => {
  it('are where either version looks for them, and not named unless asked for', () => {
    const configOf = (major: number, registryHosts: string | null) =>
      containerdConfig({ ...base, registryHosts, version: { major, minor: 1, patch: 0 } });
    assert.match(configOf(1, '/hosts'), /io\.containerd\.grpc\.v1\.cri'\.registry\]\n {2}config_path = "\/hosts"/);
    assert.match(configOf(2, '/hosts'), /io\.containerd\.cri\.v1\.images'\.registry\]\n {2}config_path = "\/hosts"/);
    for (const major of [1, 2]) assert.doesNotMatch(configOf(major, null), /config_path/);
  });
});

describe('RestartDelay', () => {
  it('doubles up to its limit and starts over after a long run', () => {
    const restarts = new RestartDelay();
    const delays = Array.from({ length: 12 }, () => restarts.next(1_000));
    assert.deepEqual(delays.slice(0, 4), [100, 200, 400, 800]);
    assert.equal(delays.at(-1), RESTART_BACK_OFF.maxMs);
    assert.equal(restarts.next(RESTART_BACK_OFF.resetAfterMs), 100);
  });
});
