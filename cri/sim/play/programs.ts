import { FileProblem, sentence } from './container-files.ts';
import { mounttest } from './mounttest.ts';
import type { Program, ProgramCall } from './process-io.ts';
import { testCondition } from './test-condition.ts';

const FOREVER_MS = 2 ** 40;

/** Programs that a simulated container can run, by the last part of their path. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  true: () => 0,
  ':': () => 0,
  false: () => 1,
  echo: ({ argv, streams }) => {
    const bare = argv[1] === '-n';
    streams.out(`${argv.slice(bare ? 2 : 1).join(' ')}${bare ? '' : '\n'}`);
    return 0;
  },
  env: ({ env, streams }) => {
    for (const [name, value] of env) streams.out(`${name}=${value}\n`);
    return 0;
  },
  printenv: ({ argv, env, streams }) => {
    const names = argv.slice(1);
    if (names.length === 0) for (const [name, value] of env) streams.out(`${name}=${value}\n`);
    for (const name of names) if (env.has(name)) streams.out(`${env.get(name) ?? ''}\n`);
    return names.every((name) => env.has(name)) ? 0 : 1;
  },
  sleep: async ({ argv, io }) => {
    await io.sleep(Number(argv[1]) * 1000);
    return 0;
  },
  cat: (call) => {
    if (call.argv.length === 1) call.streams.out(call.streams.input);
    return forFiles(call, call.argv.slice(1), (path) => call.streams.out(call.io.files.read(path).toString()));
  },
  touch: (call) => forFiles(call, call.argv.slice(1), (path) => call.io.files.write(path, '', { append: true })),
  rm: (call) => {
    const force = call.argv.slice(1).some((word) => /^-\w*f/.test(word));
    return forFiles(call, withoutFlags(call), (path) => {
      if (!call.io.files.remove(path) && !force) throw new FileProblem('no such file or directory');
    });
  },
  test: ({ argv, io }) => testCondition(argv.slice(1), io.files),
  '[': ({ argv, io }) => (argv.at(-1) === ']' ? testCondition(argv.slice(1, -1), io.files) : 2),
  '[[': ({ argv, io }) => (argv.at(-1) === ']]' ? testCondition(argv.slice(1, -1), io.files) : 2),
  id: ({ argv, io, streams }) => {
    const { uid, gid, groups } = io.user;
    const answers: Record<string, string> = {
      '-u': `${uid}`,
      '-g': `${gid}`,
      '-G': [...new Set([gid, ...groups])].join(' '),
    };
    streams.out(`${answers[argv[1] ?? ''] ?? `uid=${uid} gid=${gid}`}\n`);
    return 0;
  },
  sysctl: (call) => {
    const name = (call.argv[1] ?? '').replaceAll('/', '.');
    const value = call.io.sysctls[name];
    if (value === undefined) call.streams.err(`sysctl: error reading key '${name}': No such file or directory\n`);
    else call.streams.out(`${name} = ${value}\n`);
    return value === undefined ? 1 : 0;
  },
  hexdump: (call) => forFiles(call, withoutFlags(call), (path) => call.streams.out(hexdump(call.io.files.read(path)))),
  ip: ({ io, streams }) => {
    if (io.privileged) return 0;
    streams.err('ip: RTNETLINK answers: Operation not permitted\n');
    return 2;
  },
  // of the end-to-end suite: setuid root
  nnp: ({ io, streams }) => {
    streams.out(`Effective uid: ${io.noNewPrivileges ? io.user.uid : 0}\n`);
    return 0;
  },
  wc: (call) => {
    return forFiles(call, withoutFlags(call), (path) => {
      const lines = call.io.files.read(path).toString().split('\n').length - 1;
      call.streams.out(`${lines} ${path}\n`);
    });
  },
  awk: ({ argv, streams }) => {
    const column = /^\{print \$(\d+)\}$/.exec(argv[1] ?? '')?.[1];
    if (column === undefined) return 2;
    for (const line of streams.input.replace(/\n$/, '').split('\n')) {
      streams.out(`${line.split(/\s+/)[Number(column) - 1] ?? ''}\n`);
    }
    return 0;
  },
};

/** What agnhost can do here, by its first argument. Its servers are not among it: nothing listens in a simulated pod. */
const AGNHOST: Readonly<Record<string, Program>> = {
  pause: async ({ io, streams }) => {
    streams.out('Paused\n');
    await io.sleep(FOREVER_MS);
    return 0;
  },
  'etc-hosts': (call) =>
    forFiles(call, ['/etc/hosts'], (path) => call.streams.out(call.io.files.read(path).toString())),
  mounttest: (call) => mounttest({ ...call, argv: call.argv.slice(1) }),
  'entrypoint-tester': ({ argv, streams }) => {
    streams.out(`[${argv.join(' ')}]\n`);
    return 0;
  },
};

/** The simulated program for a command, undefined when it is not known. */
export function programFor(argv: readonly string[]): Program | undefined {
  const name = (argv[0] ?? '').split('/').at(-1) ?? '';
  const programs = name.startsWith('agnhost') ? AGNHOST : PROGRAMS;
  const key = programs === AGNHOST ? (argv[1] ?? '') : name;
  return Object.hasOwn(programs, key) ? programs[key] : undefined;
}

function withoutFlags({ argv }: ProgramCall): string[] {
  return argv.slice(1).filter((word) => !word.startsWith('-'));
}

/** Does something with each file; those that fail are told and give 1. */
function forFiles({ argv, streams }: ProgramCall, paths: readonly string[], act: (path: string) => void): number {
  let code = 0;
  for (const path of paths) {
    try {
      act(path);
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      streams.err(`${argv[0] ?? ''}: ${path}: ${sentence(error.message)}\n`);
      code = 1;
    }
  }
  return code;
}

/** `hexdump -C`. */
function hexdump(bytes: Buffer): string {
  const hex = (at: number): string => at.toString(16).padStart(8, '0');
  let text = '';
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.subarray(at, at + 16);
    const codes = [...row].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const letters = [...row].map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    text += `${hex(at)}  ${codes.padEnd(48)}  |${letters}|\n`;
  }
  return `${text}${hex(bytes.length)}\n`;
}
