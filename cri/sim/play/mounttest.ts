import type { Stats } from 'node:fs';
import { FileProblem } from './container-files.ts';
import type { ProgramCall } from './process-io.ts';

const TMPFS = 0x01021994;
const NEW_CONTENT = 'mount-tester new file\n';
const LOOP_MS = 2000;
const NEW_FILE_MODES = { new_file_0644: 0o644, new_file_0666: 0o666, new_file_0660: 0o660, new_file_0777: 0o777 };

/**
 * `agnhost mounttest`, the program by which Kubernetes' end-to-end suite looks at volumes: what it was asked for by flags, in
 * that program's order and words.
 */
export async function mounttest(call: ProgramCall): Promise<number> {
  const { files } = call.io;
  const print = (text: string): void => call.streams.out(`${text}\n`);
  const flags = new Map<string, string>();
  for (const argument of call.argv.slice(1)) {
    const [, name = '', value = ''] = /^--(\w+)=(.*)$/s.exec(argument) ?? [];
    flags.set(name, value);
  }
  let code = 0;
  const on = async (flag: string, what: string, act: (path: string) => void | Promise<void>): Promise<void> => {
    const path = flags.get(flag) ?? '';
    if (path === '') return;
    try {
      await act(path);
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      print(`${what} "${path}": ${error.message}`);
      code = 1;
    }
  };
  const show = (path: string): void => print(`content of file "${path}": ${files.read(path).toString()}`);
  const stat = (path: string): Stats => {
    const stats = files.stat(path);
    if (stats === null) throw new FileProblem('not on a mount');
    return stats;
  };
  await on('fs_type', 'error from statfs', (path) => {
    const type = files.fileSystemType(path);
    print(`mount type of "${path}": ${type === TMPFS ? 'tmpfs' : type}`);
  });
  for (const [flag, mode] of Object.entries(NEW_FILE_MODES)) {
    await on(flag, 'error writing new file', (path) => {
      files.write(path, NEW_CONTENT, { mode });
      show(path);
    });
  }
  await on('file_mode', 'error from Stat', (path) => print(`mode of file "${path}": ${modeText(stat(path))}`));
  await on('file_perm', 'error from Stat', (path) => print(`perms of file "${path}": -${bitsText(stat(path).mode)}`));
  await on('file_owner', 'error from stat', (path) => {
    const { uid, gid } = stat(path);
    print(`owner UID of "${path}": ${uid}\nowner GID of "${path}": ${gid}`);
  });
  await on('file_content', 'error reading file content for', show);
  await on('file_content_in_loop', 'error reading file content for', async (path) => {
    const untilExpected = flags.get('break_on_expected_content') !== 'false';
    const rounds = Number(flags.get('retry_time') ?? 180) / (LOOP_MS / 1000);
    for (let round = 0; round < rounds; round++) {
      try {
        show(path);
        if (untilExpected && files.read(path).toString() === NEW_CONTENT) return;
      } catch (error) {
        if (!(error instanceof FileProblem)) throw error;
        print(`Error reading file ${path}: ${error.message}, retrying`);
      }
      await call.io.sleep(LOOP_MS);
    }
  });
  return code;
}

/** A file's mode as Go's FileMode says it: letters for what it is, then the permissions. */
function modeText(stats: Stats): string {
  const letters = [
    stats.isDirectory() ? 'd' : '',
    (stats.mode & 0o4000) === 0 ? '' : 'u',
    (stats.mode & 0o2000) === 0 ? '' : 'g',
    (stats.mode & 0o1000) === 0 ? '' : 't',
  ].join('');
  return `${letters === '' ? '-' : letters}${bitsText(stats.mode)}`;
}

function bitsText(mode: number): string {
  return [...'rwxrwxrwx'].map((letter, index) => ((mode >> (8 - index)) & 1 ? letter : '-')).join('');
}
