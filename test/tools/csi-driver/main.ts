/**
 * The driver as a process: `main.ts NAME SOCKET DIR [REGISTRATION [CALLS [FAULTS [TRAITS]]]]`; it mounts, so it must be root. TRAITS is JSON. With SIGUSR2
 * calls that hang fail.
 */
import { CsiDriver } from './csi-driver.ts';
import type { NodeTraits } from './node-service.ts';

const [name, socket, dir, registration, callsFile, faultsFile, traits] = process.argv.slice(2);
if (name === undefined || socket === undefined || dir === undefined) {
  process.stderr.write('usage: main.ts NAME SOCKET DIR [REGISTRATION [CALLS [FAULTS [TRAITS]]]]\n');
  process.exit(2);
}
const driver = new CsiDriver({
  ...{ name, socket, dir, showing: 'bind' },
  ...(registration && { registration }),
  ...(callsFile && { callsFile }),
  ...(faultsFile && { faultsFile }),
  ...(traits && { traits: JSON.parse(traits) as Partial<NodeTraits> }),
});
await driver.start();
process.on('SIGUSR2', () => driver.release());
process.stdout.write('ready\n');
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    driver.stop();
    process.exit(0);
  });
