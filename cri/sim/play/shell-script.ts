/** A piece of a word of a shell script. */
export type Part =
  | { kind: 'text'; text: string }
  /** `$name`, `${name}`; `must`: `${name:?}`, which ends the script when the variable is empty. */
  | { kind: 'variable'; name: string; quoted: boolean; must: boolean }
  /** `$(script)`. */
  | { kind: 'output'; script: Script; quoted: boolean };

/** A word: its pieces, and whether any of it was quoted (then it is no keyword, and may be empty). */
export interface Word {
  parts: Part[];
  quoted: boolean;
}

/** A command with its words, `name=value` in front of them, and where its output goes. */
export interface SimpleCommand {
  kind: 'simple';
  assignments: { name: string; value: Word }[];
  words: Word[];
  output: { to: Word; append: boolean } | undefined;
}

/** What stands between two separators. */
export type Command =
  | SimpleCommand
  | { kind: 'group'; body: Script }
  | { kind: 'while'; test: Script; body: Script }
  | { kind: 'if'; test: Script; then: Script; otherwise: Script }
  | { kind: 'function'; name: string; body: Script };

/** `a | b`, run when what came before it ended as `after` says. */
export interface Step {
  after: 'always' | 'success' | 'failure';
  pipeline: Command[];
  /** `&`: the next step does not wait for it. */
  background: boolean;
}

/** A list of commands. */
export type Script = Step[];

/** The text of a word that has no variables, undefined otherwise. */
export function literalOf(word: Word | undefined): string | undefined {
  if (word === undefined) return undefined;
  let text = '';
  for (const part of word.parts) {
    if (part.kind !== 'text') return undefined;
    text += part.text;
  }
  return text;
}

/** All simple commands of a script, those in `$(...)` included. */
export function* simpleCommands(script: Script): Generator<SimpleCommand> {
  for (const { pipeline } of script) {
    for (const command of pipeline) {
      if (command.kind === 'simple') {
        yield command;
        const words = [...command.words, ...command.assignments.map(({ value }) => value)];
        for (const part of words.flatMap((word) => word.parts)) {
          if (part.kind === 'output') yield* simpleCommands(part.script);
        }
        continue;
      }
      if (command.kind === 'while' || command.kind === 'if') yield* simpleCommands(command.test);
      if (command.kind === 'if') {
        yield* simpleCommands(command.then);
        yield* simpleCommands(command.otherwise);
      } else yield* simpleCommands(command.body);
    }
  }
}

/** Names of the functions that a script defines anywhere. */
export function functionNames(script: Script): Set<string> {
  const names = new Set<string>();
  for (const { pipeline } of script) {
    for (const command of pipeline) {
      if (command.kind === 'simple') continue;
      if (command.kind === 'function') names.add(command.name);
      const inner = command.kind === 'if' ? [command.then, command.otherwise] : [command.body];
      for (const name of inner.flatMap((body) => [...functionNames(body)])) names.add(name);
    }
  }
  return names;
}
