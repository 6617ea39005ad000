import { FileProblem, sentence } from './container-files.ts';
import type { ProcessIo, Streams } from './process-io.ts';
import { programFor } from './programs.ts';
import { parseScript } from './shell-parser.ts';
import { functionNames, literalOf, simpleCommands } from './shell-script.ts';
import type { Command, Script, SimpleCommand, Word } from './shell-script.ts';
import { NotPlayed } from './shell-words.ts';
import { withoutEnd } from '../../../machines/values/trim.ts';

const BUILT_IN = new Set(['exit', 'trap', 'wait']);
const NOT_FOUND = 127;
/** A loop gives way this long in each round, so that one that waits for nothing does not hold the simulated runtime. */
const ROUND_MS = 1;

/** `exit`: unwinds the script. */
class ShellExit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`exit ${code}`);
    this.code = code;
  }
}

/** The script, when all that it names is known here or among `functions`; undefined otherwise. */
export function playableScript(text: string, functions: ReadonlySet<string> = new Set()): Script | undefined {
  let script: Script;
  try {
    script = parseScript(text);
  } catch (error) {
    if (error instanceof NotPlayed) return undefined;
    throw error;
  }
  const own = functionNames(script);
  for (const { words } of simpleCommands(script)) {
    if (words.length === 0) continue;
    const argv = words.slice(0, 2).map((word) => literalOf(word) ?? '');
    const name = argv[0] ?? '';
    if (!BUILT_IN.has(name) && !own.has(name) && !functions.has(name) && programFor(argv) === undefined)
      return undefined;
  }
  return script;
}

/** A shell that runs one script. */
export class Shell {
  readonly #name: string;
  readonly #io: ProcessIo;
  readonly #env: Map<string, string>;
  /** Variables that are not in the environment of programs. */
  readonly #own = new Map<string, string>();
  readonly #functions = new Map<string, Script>();
  readonly #background: Promise<unknown>[] = [];
  #onTerm: Script | undefined;
  #termCame = false;
  #last = 0;

  /** `name`: by which it complains. */
  constructor(name: string, io: ProcessIo, env: ReadonlyMap<string, string>) {
    this.#name = name;
    this.#io = io;
    this.#env = new Map(env);
  }

  /** Runs to the end, what it started with `&` included: the exit code. */
  async run(script: Script, streams: Streams): Promise<number> {
    let code: number;
    try {
      code = await this.#list(script, streams);
    } catch (error) {
      if (!(error instanceof ShellExit)) throw error;
      code = error.code;
    }
    await Promise.all(this.#background);
    return code;
  }

  /** SIGTERM: noticed when the command that runs now has ended, and only with a trap, as the first process of a pod does. */
  terminate(): void {
    this.#termCame = true;
  }

  async #list(script: Script, streams: Streams): Promise<number> {
    for (const step of script) {
      if (step.after === 'success' && this.#last !== 0) continue;
      if (step.after === 'failure' && this.#last === 0) continue;
      const running = this.#pipeline(step.pipeline, streams);
      if (step.background) {
        this.#background.push(running.catch(() => undefined));
        this.#last = 0;
      } else {
        this.#last = await running;
        await this.#trapped(streams);
      }
    }
    return this.#last;
  }

  async #trapped(streams: Streams): Promise<void> {
    const action = this.#onTerm;
    if (!this.#termCame || action === undefined) return;
    this.#termCame = false;
    const last = this.#last;
    await this.#list(action, streams);
    this.#last = last;
  }

  async #pipeline(commands: readonly Command[], streams: Streams): Promise<number> {
    let { input } = streams;
    let code = 0;
    for (const [index, command] of commands.entries()) {
      let text = '';
      const piped = index < commands.length - 1;
      const out = piped ? (more: string): void => void (text += more) : streams.out;
      code = await this.#command(command, { input, out, err: streams.err });
      input = text;
    }
    return code;
  }

  async #command(command: Command, streams: Streams): Promise<number> {
    switch (command.kind) {
      case 'simple':
        return this.#simple(command, streams);
      case 'group':
        return this.#list(command.body, streams);
      case 'function':
        this.#functions.set(command.name, command.body);
        return 0;
      case 'if':
        if ((await this.#list(command.test, streams)) === 0) return this.#list(command.then, streams);
        this.#last = 0;
        return this.#list(command.otherwise, streams);
      case 'while': {
        let code = 0;
        while ((await this.#list(command.test, streams)) === 0) {
          code = await this.#list(command.body, streams);
          await this.#io.sleep(ROUND_MS);
        }
        return code;
      }
    }
  }

  async #simple(command: SimpleCommand, streams: Streams): Promise<number> {
    const argv: string[] = [];
    for (const word of command.words) argv.push(...(await this.#fields(word, streams)));
    const assigned: [string, string][] = [];
    for (const { name, value } of command.assignments) {
      assigned.push([name, (await this.#fields(value, streams)).join(' ')]);
    }
    const name = argv[0];
    if (name === undefined) {
      for (const [variable, value] of assigned) (this.#env.has(variable) ? this.#env : this.#own).set(variable, value);
      if (command.output === undefined) return 0;
    }
    let written = '';
    const { output } = command;
    const out = output === undefined ? streams.out : (text: string): void => void (written += text);
    let code = name === undefined ? 0 : await this.#execute(argv, assigned, { ...streams, out });
    if (output !== undefined) {
      const path = (await this.#fields(output.to, streams)).join(' ');
      try {
        this.#io.files.write(path, written, { append: output.append });
      } catch (error) {
        if (!(error instanceof FileProblem)) throw error;
        streams.err(`${this.#name}: can't create ${path}: ${sentence(error.message)}\n`);
        code = 1;
      }
    }
    return code;
  }

  async #execute(argv: readonly string[], assigned: [string, string][], streams: Streams): Promise<number> {
    const name = argv[0] ?? '';
    const body = this.#functions.get(name);
    if (body !== undefined) return this.#list(body, streams);
    switch (name) {
      case 'exit':
        throw new ShellExit(argv[1] === undefined ? this.#last : Number(argv[1]) & 255);
      case 'trap':
        return this.#trap(argv[1] ?? '', argv.slice(2), streams);
      case 'wait':
        await Promise.all(this.#background);
        return 0;
    }
    const program = programFor(argv);
    if (program === undefined) {
      streams.err(`${this.#name}: ${name}: not found\n`);
      return NOT_FOUND;
    }
    const env = new Map([...this.#env, ...assigned]);
    return program({ argv, env, io: this.#io, streams });
  }

  #trap(action: string, signals: readonly string[], streams: Streams): number {
    if (!signals.some((signal) => /^(SIG)?TERM$/.test(signal))) return 0;
    const script = playableScript(action, new Set(this.#functions.keys()));
    if (script === undefined) {
      streams.err(`${this.#name}: trap: ${action}: not simulated\n`);
      return 1;
    }
    this.#onTerm = script;
    return 0;
  }

  /** A word as it stands in the command: what is not quoted is split at blanks. */
  async #fields(word: Word, streams: Streams): Promise<string[]> {
    const fields: string[] = [];
    let field = '';
    let any = word.quoted;
    for (const part of word.parts) {
      let text: string;
      if (part.kind === 'text') {
        field += part.text;
        any ||= part.text !== '';
        continue;
      }
      if (part.kind === 'variable') {
        text = part.name === '?' ? `${this.#last}` : (this.#own.get(part.name) ?? this.#env.get(part.name) ?? '');
        if (part.must && text === '') {
          streams.err(`${this.#name}: ${part.name}: parameter null or not set\n`);
          throw new ShellExit(2);
        }
      } else {
        text = '';
        await this.#list(part.script, { ...streams, out: (more) => void (text += more) });
        text = withoutEnd(text, '\n');
      }
      if (part.quoted) {
        field += text;
        continue;
      }
      const pieces = text.split(/\s+/);
      for (const [index, piece] of pieces.entries()) {
        if (index > 0) {
          if (any || field !== '') fields.push(field);
          field = '';
          any = false;
        }
        field += piece;
        any ||= piece !== '';
      }
    }
    if (any || field !== '') fields.push(field);
    return fields;
  }
}
