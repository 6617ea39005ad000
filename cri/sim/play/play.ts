import type { ContainerConfig } from '../../generated/runtime/v1/api.ts';
import type { ContainerRecord } from '../records.ts';
import { ContainerFiles } from './container-files.ts';
import type { ProcessUser } from './container-files.ts';
import type { Play } from './running-play.ts';
import type { ProcessIo, Program, Streams } from './process-io.ts';
import { programFor } from './programs.ts';
import { playableScript, Shell } from './shell.ts';
import type { Script } from './shell-script.ts';

const SHELLS = new Set(['sh', 'bash', 'ash']);
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What a play takes of the runtime. */
export interface Stage {
  sleep(ms: number): Promise<void>;
  /** A line of output; `partial`: its newline has not come yet. */
  line(stream: 'stdout' | 'stderr', text: string, partial: boolean): void;
}

type Part = { script: Script } | { program: Program };

/** The command of a container, of its config or else of its image. */
function commandOf({ config, image }: ContainerRecord): string[] {
  if (config.command.length > 0) return [...config.command, ...config.args];
  return [...image.entrypoint, ...(config.args.length > 0 ? config.args : image.command)];
}

/** Plays a container's own command. Undefined when it is not playable. */
export function playContainer(record: ContainerRecord, stage: Stage): Play | undefined {
  const argv = commandOf(record);
  const part = partOf(argv);
  if (part === undefined) return undefined;
  const buffers = {
    stdout: new LineBuffer((text, partial) => stage.line('stdout', text, partial)),
    stderr: new LineBuffer((text, partial) => stage.line('stderr', text, partial)),
  };
  const out = (text: string): void => buffers.stdout.add(text);
  const err = (text: string): void => buffers.stderr.add(text);
  let onTerm = (): void => {};
  const ended = (async (): Promise<number> => {
    // the answer to StartContainer comes first
    await stage.sleep(1);
    const code = await perform(part, argv, record, stage, { input: '', out, err }, (handler) => (onTerm = handler));
    buffers.stdout.end();
    buffers.stderr.end();
    return code;
  })();
  return { ended, terminate: () => onTerm() };
}

/** What a command in a container printed. */
export interface Played {
  code: number;
  stdout: string;
  stderr: string;
}

/** Plays a command in a container that runs, with the container's files. Undefined when it is not playable. */
export function playCommand(
  record: ContainerRecord,
  argv: readonly string[],
  stage: Pick<Stage, 'sleep'>,
): Promise<Played> | undefined {
  const part = partOf(argv);
  if (part === undefined) return undefined;
  let stdout = '';
  let stderr = '';
  const streams = {
    input: '',
    out: (text: string): void => void (stdout += text),
    err: (text: string): void => void (stderr += text),
  };
  return perform(part, argv, record, stage, streams, () => {}).then((code) => ({ code, stdout, stderr }));
}

async function perform(
  part: Part,
  argv: readonly string[],
  record: ContainerRecord,
  stage: Pick<Stage, 'sleep'>,
  streams: Streams,
  hearTerm: (handler: () => void) => void,
): Promise<number> {
  const { config } = record;
  const user = userOf(record);
  record.files ??= new ContainerFiles(config.mounts, config.linux?.securityContext?.readonlyRootfs === true, user);
  const io: ProcessIo = {
    files: record.files,
    user,
    sysctls: record.sandbox.config.linux?.sysctls ?? {},
    privileged: config.linux?.securityContext?.privileged === true,
    noNewPrivileges: config.linux?.securityContext?.noNewPrivs === true,
    sleep: stage.sleep,
  };
  const env = environment(config, record.sandbox.config.hostname);
  if ('script' in part) {
    const shell = new Shell(argv[0] ?? '', io, env);
    hearTerm(() => shell.terminate());
    return shell.run(part.script, streams);
  }
  if (!handlesTerm(argv)) return part.program({ argv, env, io, streams });
  return new Promise((resolve, reject) => {
    hearTerm(() => resolve(0));
    Promise.resolve(part.program({ argv, env, io, streams })).then(resolve, reject);
  });
}

/** `env` or `printenv`: every container can answer these, whatever runs in it. */
export function asksEnvironment(argv: readonly string[]): boolean {
  const name = (argv[0] ?? '').split('/').at(-1);
  return name === 'printenv' || (name === 'env' && argv.length === 1);
}

/** Of the known programs only agnhost's pause ends on SIGTERM as the first process of a container. */
function handlesTerm(argv: readonly string[]): boolean {
  return argv[1] === 'pause';
}

function partOf(argv: readonly string[]): Part | undefined {
  const name = (argv[0] ?? '').split('/').at(-1) ?? '';
  if (SHELLS.has(name)) {
    const script = argv[1] === '-c' ? playableScript(argv[2] ?? '') : undefined;
    return script === undefined ? undefined : { script };
  }
  const program = programFor(argv);
  return program === undefined ? undefined : { program };
}

function environment(config: ContainerConfig, hostname: string): Map<string, string> {
  const env = new Map([['PATH', PATH]]);
  if (hostname !== '') env.set('HOSTNAME', hostname);
  for (const { key, value } of config.envs) env.set(key, value);
  return env;
}

function userOf({ config, image }: ContainerRecord): ProcessUser {
  const context = config.linux?.securityContext;
  const [user, group] = image.user.split(':');
  const number = (text: string | undefined): number => (/^\d+$/.test(text ?? '') ? Number(text) : 0);
  return {
    uid: Number(context?.runAsUser?.value ?? number(user)),
    gid: Number(context?.runAsGroup?.value ?? number(group)),
    groups: (context?.supplementalGroups ?? []).map(Number),
  };
}

/** Cuts what a process prints into lines. */
class LineBuffer {
  readonly #tell: (text: string, partial: boolean) => void;
  #rest = '';

  /** `tell` hears each line without its newline; `partial`: the end of the output, which had none. */
  constructor(tell: (text: string, partial: boolean) => void) {
    this.#tell = tell;
  }

  add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#tell(line, false);
  }

  /** The process has ended. */
  end(): void {
    if (this.#rest !== '') this.#tell(this.#rest, true);
    this.#rest = '';
  }
}
