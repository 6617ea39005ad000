import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';

/** Fields of FUSE's protocol that are used here, `include/uapi/linux/fuse.h`. */
const FUSE_INIT = 26;
const HEAD_BYTES = 40;
const INIT_OUT_BYTES = 64;
const OUT_HEAD_BYTES = 16;

/**
 * A file system whose server never answers, at `mountPoint`, as of a dead NFS server: FUSE, of which only the first message gets an
 * answer. Whoever looks at the mount point waits, also this process; `end` unmounts it, and who waited gets an error.
 */
export async function mountDeadServer(mountPoint: string): Promise<{ end: () => Promise<void> }> {
  const fd = openSync('/dev/fuse', constants.O_RDWR | constants.O_NONBLOCK);
  // mount(8) would look at the place when it is done.
  await run('mount', ['-i', '-t', 'fuse', '-o', 'fd=3,rootmode=40000,user_id=0,group_id=0', 'dead', mountPoint], fd);
  const request = Buffer.alloc(128 * 1024);
  const bytes = readSync(fd, request);
  if (bytes < HEAD_BYTES || request.readUInt32LE(4) !== FUSE_INIT) throw new Error('FUSE did not begin as expected');
  const answer = Buffer.alloc(OUT_HEAD_BYTES + INIT_OUT_BYTES);
  answer.writeUInt32LE(answer.length, 0);
  request.copy(answer, 8, 8, 16);
  // Version 7.31, max_write a page; everything else is left out.
  answer.writeUInt32LE(7, OUT_HEAD_BYTES);
  answer.writeUInt32LE(31, OUT_HEAD_BYTES + 4);
  answer.writeUInt32LE(4096, OUT_HEAD_BYTES + 20);
  writeSync(fd, answer);
  return {
    end: async () => {
      closeSync(fd);
      await run('umount', ['-l', mountPoint]);
    },
  };
}

async function run(command: string, args: string[], fd?: number): Promise<void> {
  const child = spawn(command, args, { cwd: '/', stdio: ['ignore', 'ignore', 'pipe', fd ?? 'ignore'] });
  let text = '';
  child.stderr?.on('data', (data: Buffer) => (text += data.toString()));
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${text}`);
}
