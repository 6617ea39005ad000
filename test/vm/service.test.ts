import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Machine } from './support/machine.ts';
import { NodeInVm } from './support/node-in-vm.ts';
import { sleepingPod } from './support/sleeping-pod.ts';

let machine: Machine;
let node: NodeInVm;

before(async () => {
  machine = await Machine.up();
  // As the package has it; a minute would be long to wait for.
  node = new NodeInVm(machine, {}, undefined, [
    'Type=notify',
    'WatchdogSec=30',
    'TimeoutStartSec=15min',
    'Restart=always',
    'RestartSec=1',
    'KillMode=process',
  ]);
  await node.start();
});
after(() => machine?.down());

test('Type=notify: systemd takes it for started when its servers answer', async () => {
  await node.stop();
  // In one command: between the two nothing else could come up. Before, nobody had answered.
  const told = await machine.run(
    'curl -s http://127.0.0.1:10248/healthz; systemctl start agent && curl -s http://127.0.0.1:10248/healthz; ' +
      'echo; curl -s -o /dev/null -w "%{http_code}" http://127.0.0.1:10255/pods',
  );
  assert.equal(told, 'ok\n200');
  const { ActiveState, MainPID } = await show();
  assert.equal(ActiveState, 'active');
  // A node, and no shell around it.
  assert.match(await machine.run(`readlink /proc/${MainPID}/exe`), /\/node$/m);
});

test('the watchdog is fed', async () => {
  const { WatchdogTimestampMonotonic: first = '0' } = await show();
  await machine.until(
    'the watchdog is fed twice',
    `[ $(systemctl show -p WatchdogTimestampMonotonic --value agent) -gt $((${first} + 15000000)) ]`,
    'systemctl status agent',
  );
  assert.equal((await show()).NRestarts, '0');
});

test('systemctl restart: another process, and its containers go on', async () => {
  await node.add(sleepingPod('stays'));
  await node.running('stays');
  await sameContainersAfter('another process', async () => {
    await machine.run('systemctl restart agent');
  });
  assert.equal((await show()).NRestarts, '0');
});

test('killed (kill -9): systemd starts it again, and its containers go on', async () => {
  await sameContainersAfter('another process', async ({ MainPID = '' }) => {
    await machine.run(`kill -KILL ${MainPID}`);
    await machine.until('its restart', '[ "$(systemctl show -p NRestarts --value agent)" = 1 ]', node.logs());
  });
});

test('one that hangs is ended by the watchdog, and started again', async () => {
  await sameContainersAfter('another process', async ({ MainPID = '' }) => {
    await machine.run(`kill -STOP ${MainPID}`);
    await machine.until('its restart', '[ "$(systemctl show -p NRestarts --value agent)" = 2 ]', node.logs());
  });
  assert.match(await machine.run('journalctl -b -u agent --no-pager -o cat'), /Watchdog timeout/);
});

test('systemctl stop: no process of it is left, and its containers go on', async () => {
  const before = await containers();
  await machine.run('systemctl stop agent');
  const { ActiveState, Result, ControlGroup = '' } = await show();
  assert.deepEqual([ActiveState, Result], ['inactive', 'success']);
  const left = await machine.run(`cat /sys/fs/cgroup/system.slice/agent.service/cgroup.procs 2> /dev/null || true`);
  assert.deepEqual([left, ControlGroup], ['', '']);
  assert.equal(await containers(), before);
});

/** Does something to the agent, then: it is another process, it alone is in its unit, and what ran is what runs. */
async function sameContainersAfter(what: string, act: (was: Record<string, string>) => Promise<void>): Promise<void> {
  const was = await show();
  const before = await containers();
  assert.notEqual(before, '');
  await act(was);
  await node.healthy();
  const pods = await node.running('stays');
  assert.equal(pods.get('stays')?.status?.containerStatuses?.[0]?.restartCount, 0);
  assert.equal(await containers(), before);
  const now = await show();
  assert.notEqual(now.MainPID, was.MainPID, what);
  // What an earlier one started would be a child of nobody.
  await machine.until(
    'the end of all that the former process had started',
    `for pid in $(cat /sys/fs/cgroup/system.slice/agent.service/cgroup.procs); do ` +
      `[ $pid = ${now.MainPID} ] || [ "$(ps -o ppid= $pid | tr -d ' ')" != 1 ] || exit 1; done`,
    'systemctl status agent --no-pager',
  );
}

/** Ids and process ids of all that runs in containers. */
function containers(): Promise<string> {
  return machine.run('ctr -n k8s.io task ls | awk \'$3 == "RUNNING" {print $1, $2}\' | sort');
}

/** What systemd knows of the unit. */
async function show(): Promise<Record<string, string>> {
  const text = await machine.run(
    'systemctl show -p ActiveState,MainPID,NRestarts,Result,ControlGroup,WatchdogTimestampMonotonic agent',
  );
  return Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
  );
}
