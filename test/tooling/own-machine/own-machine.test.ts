import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';

const script = join(import.meta.dirname, '../../tools/own-machine.sh');
const run = (...command: string[]) => spawnSync(script, command, { encoding: 'utf8' });
const sh = (text: string) => run('sh', '-c', text);
const checked = run('--check');
const skip = checked.status === 0 ? false : `needs a machine that namespaces can be made on: ${checked.stderr.trim()}`;

/** Cgroups of such machines, those of other runs included. */
function cgroups(): string[] {
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  const roots = mounts.filter((line) => / - cgroup2? /.test(line)).map((line) => line.split(' ')[4] ?? '');
  return roots.flatMap((root) => readdirSync(root).filter((name) => name.startsWith('actorlet-test-')));
}

describe('a machine of its own for tests with real containers', { skip }, () => {
  it('gives the command its exit code and its output', () => {
    const { status, stdout } = sh('echo out; exit 7');
    assert.deepEqual([status, stdout], [7, 'out\n']);
  });

  it('has its own processes, network, cgroups and folders of runtimes', () => {
    const { stdout } = sh(
      'ls /proc | grep -cE "^[0-9]+$"; echo $(ls /sys/class/net); find /run/netns /run/containerd -mindepth 1 | wc -l; ' +
        "grep -v /init /proc/self/cgroup | cut -d: -f3 | sort -u; ip route show default | cut -d' ' -f1-5",
    );
    const [processes = '', links, folders, ...rest] = stdout.trim().split('\n');
    assert.ok(Number(processes) < 10, stdout);
    assert.match(links ?? '', /^eth0 eth0-end lo/);
    assert.equal(folders, '0');
    assert.deepEqual(rest, ['/', 'default via 192.168.231.1 dev eth0']);
  });

  it('ends with all that was left in it: processes, mounts, cgroups', async () => {
    const mark = `4242.${process.pid}`;
    const before = new Set(cgroups());
    const left = sh(
      `mkdir /sys/fs/cgroup/*/left 2>/dev/null; mount -t tmpfs tmpfs /mnt; setsid sleep ${mark} >/dev/null 2>&1 & ` +
        'ip link add left0 type bridge; exit 0',
    );
    assert.equal(left.status, 0, left.stderr);
    await sleep(200);
    assert.deepEqual(
      cgroups().filter((name) => !before.has(name) && isEnded(name)),
      [],
    );
    assert.equal(spawnSync('pgrep', ['-f', `sleep ${mark}`]).status, 1, 'a process goes on');
    assert.doesNotMatch(readFileSync('/proc/self/mountinfo', 'utf8'), / \/mnt rw.* - tmpfs /);
    assert.ok(!readdirSync('/sys/class/net').includes('left0'));
  });

  it('lets the command end itself on a signal to its group, and tidies up after it', async () => {
    const child = spawn(
      script,
      ['sh', '-c', 'trap "sleep 0.3; echo tidied; exit 3" TERM; echo up; while :; do sleep 0.1; done'],
      {
        detached: true,
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let output = '';
    const up = new Promise<void>((resolve) => {
      child.stdout.on('data', (bytes) => {
        output += String(bytes);
        if (output.includes('up')) resolve();
      });
    });
    const over = new Promise<number | null>((resolve) => child.once('exit', resolve));
    await up;
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    assert.equal(await over, 3);
    assert.equal(output, 'up\ntidied\n');
    assert.ok(!cgroups().includes(`actorlet-test-${child.pid ?? 0}`));
  });
});

/** Whether the run that made this cgroup is over: others may be under way. */
function isEnded(cgroup: string): boolean {
  return spawnSync('kill', ['-0', cgroup.replace('actorlet-test-', '')]).status !== 0;
}
