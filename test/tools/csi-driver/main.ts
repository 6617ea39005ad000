/** The driver as a process: `main.ts NAME SOCKET DIR [REGISTRATION [CALLS [FAULTS]]]`; it mounts, so it must be root. */
import { CsiDriver } from './csi-driver.ts';

const [name, socket, dir, registration, callsFile, faultsFile] = process.argv.slice(2);
if (name === undefined || socket === undefined || dir === undefined) {
  process.stderr.write('usage: main.ts NAME SOCKET DIR [REGISTRATION [CALLS [FAULTS]]]\n');
  process.exit(2);
}
const driver = new CsiDriver({
  ...{ name, socket, dir, showing: 'bind' },
  ...(registration && { registration }),
  ...(callsFile && { callsFile }),
  ...(faultsFile && { faultsFile }),
});
await driver.start();
process.stdout.write('ready\n');
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    driver.stop();
    process.exit(0);
  });
