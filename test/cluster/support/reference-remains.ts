import { access, readFile, rm, rmdir, writeFile } from 'node:fs/promises';

const SYSCTLS = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
].map((name) => `/proc/sys/${name}`);
const FIXED_DIR = '/var/lib/kubelet';
/** What its device manager remembers, wherever its root directory is: the next one would tell of resources that nobody has there. */
const DEVICES = `${FIXED_DIR}/device-plugins/kubelet_internal_checkpoint`;

/**
 * The reference kubelet sets kernel settings and makes one folder at a fixed place. Returns what puts both back as they
 * are now.
 */
export async function rememberMachine(): Promise<() => Promise<void>> {
  const values = await Promise.all(SYSCTLS.map((file) => readFile(file, 'utf8').catch(() => null)));
  const isThere = (path: string): Promise<boolean> =>
    access(path).then(
      () => true,
      () => false,
    );
  const hadDir = await isThere(FIXED_DIR);
  const hadDevices = await isThere(DEVICES);
  return async () => {
    for (const [i, file] of SYSCTLS.entries()) {
      const value = values[i];
      if (value != null && (await readFile(file, 'utf8')) !== value)
        await writeFile(file, value).catch(() => undefined);
    }
    if (!hadDevices) await rm(DEVICES, { force: true });
    if (hadDir) return;
    await rm(`${FIXED_DIR}/device-plugins`, { recursive: true, force: true });
    for (const dir of ['pod-resources', 'pki', '']) await rmdir(`${FIXED_DIR}/${dir}`).catch(() => undefined);
  };
}
