/** The driver as a process; see USAGE. It mounts, so it must be root. With SIGUSR2 calls that hang fail. */
import { parseArgs } from 'node:util';
import { CsiDriver, DISK_CAPABILITIES } from './csi-driver.ts';
import type { NodeTraits } from './node-service.ts';

const USAGE = `usage: main.ts NAME SOCKET DIR [REGISTRATION [CALLS [FAULTS [TRAITS]]]] [--disks]
  TRAITS    of its node, as JSON (NodeTraits)
  --disks   volumes are disks with file systems of their own (loop devices), not folders
`;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { disks: { type: 'boolean' } } });
const [name, socket, dir, registration, callsFile, faultsFile, traits] = positionals;
if (name === undefined || socket === undefined || dir === undefined) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const disks = values.disks === true;
const driver = new CsiDriver({
  ...{ name, socket, dir, showing: disks ? 'disk' : 'bind' },
  ...(registration && { registration }),
  ...(callsFile && { callsFile }),
  ...(faultsFile && { faultsFile }),
  traits: {
    ...(disks && { capabilities: DISK_CAPABILITIES }),
    ...(traits && (JSON.parse(traits) as Partial<NodeTraits>)),
  },
});
await driver.start();
process.on('SIGUSR2', () => driver.release());
process.stdout.write('ready\n');
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    driver.stop();
    process.exit(0);
  });
