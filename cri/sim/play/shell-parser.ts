import { literalOf } from './shell-script.ts';
import type { Command, Script, SimpleCommand, Step, Word } from './shell-script.ts';
import { NotPlayed, shellTokens } from './shell-words.ts';
import type { Token } from './shell-words.ts';

const ASSIGNMENT = /^([A-Za-z_]\w*)=/;

/** A script as a tree. Throws NotPlayed when it has something that is not simulated. */
export function parseScript(text: string): Script {
  const parser = new ShellParser(shellTokens(text, parseScript));
  return parser.all();
}

/** Recursive descent over the tokens. */
class ShellParser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  all(): Script {
    const script = this.#list([]);
    if (this.#at < this.#tokens.length) throw new NotPlayed('an unexpected operator');
    return script;
  }

  /** Up to one of the keywords, which stays. */
  #list(ends: readonly string[]): Script {
    const steps: Step[] = [];
    let after: Step['after'] = 'always';
    for (;;) {
      if (after === 'always') while (this.#takeOperator(';'));
      const keyword = this.#keyword();
      if (this.#at >= this.#tokens.length || (keyword !== undefined && ends.includes(keyword))) {
        if (ends.length > 0 && keyword === undefined) throw new NotPlayed(`${ends.join(' or ')} is missing`);
        return steps;
      }
      const pipeline = [this.#command()];
      while (this.#takeOperator('|')) pipeline.push(this.#command());
      const step: Step = { after, pipeline, background: this.#takeOperator('&') };
      steps.push(step);
      if (this.#takeOperator('&&')) after = 'success';
      else if (this.#takeOperator('||')) after = 'failure';
      else if (step.background || this.#takeOperator(';') || this.#at >= this.#tokens.length) after = 'always';
      else if (!ends.includes(this.#keyword() ?? '')) throw new NotPlayed('an unexpected operator');
    }
  }

  #command(): Command {
    const keyword = this.#keyword();
    switch (keyword) {
      case 'while': {
        this.#at++;
        const test = this.#until('do');
        return { kind: 'while', test, body: this.#until('done') };
      }
      case 'if': {
        this.#at++;
        const test = this.#until('then');
        const then = this.#list(['else', 'fi']);
        const otherwise = this.#keyword() === 'else' ? (this.#at++, this.#list(['fi'])) : [];
        this.#at++;
        return { kind: 'if', test, then, otherwise };
      }
      case '{':
        this.#at++;
        return { kind: 'group', body: this.#until('}') };
      case 'for':
      case 'case':
      case 'until':
      case 'function':
      case '!':
        throw new NotPlayed(`${keyword} in a script`);
      default:
        return this.#simple();
    }
  }

  #until(keyword: string): Script {
    const script = this.#list([keyword]);
    this.#at++;
    return script;
  }

  #simple(): Command {
    const command: SimpleCommand = { kind: 'simple', assignments: [], words: [], output: undefined };
    for (;;) {
      if (command.words.length === 1 && this.#takeOperator('(')) {
        const name = literalOf(command.words[0]) ?? '';
        if (!this.#takeOperator(')') || this.#keyword() !== '{') throw new NotPlayed('a parenthesis');
        this.#at++;
        return { kind: 'function', name, body: this.#until('}') };
      }
      const append = this.#takeOperator('>>');
      if (append || this.#takeOperator('>')) {
        const to = this.#word();
        if (to === undefined || command.output !== undefined) throw new NotPlayed('a redirection');
        command.output = { to, append };
        continue;
      }
      const word = this.#word();
      if (word === undefined) break;
      const assignment = command.words.length === 0 ? assignmentOf(word) : undefined;
      if (assignment === undefined) command.words.push(word);
      else command.assignments.push(assignment);
    }
    if (command.words.length === 0 && command.assignments.length === 0) throw new NotPlayed('an empty command');
    return command;
  }

  #word(): Word | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined || !('word' in token)) return undefined;
    this.#at++;
    return token.word;
  }

  /** The next word when it is plain text: it may be a keyword. */
  #keyword(): string | undefined {
    const token = this.#tokens[this.#at];
    return token !== undefined && 'word' in token && !token.word.quoted ? literalOf(token.word) : undefined;
  }

  #takeOperator(operator: string): boolean {
    const token = this.#tokens[this.#at];
    if (token === undefined || !('operator' in token) || token.operator !== operator) return false;
    this.#at++;
    return true;
  }
}

/** `name=value` in front of a command. */
function assignmentOf(word: Word): { name: string; value: Word } | undefined {
  const [first, ...rest] = word.parts;
  if (first?.kind !== 'text') return undefined;
  const found = ASSIGNMENT.exec(first.text);
  if (found === null) return undefined;
  const value: Word = {
    parts: [{ kind: 'text', text: first.text.slice(found[0].length) }, ...rest],
    quoted: true,
  };
  return { name: found[1] ?? '', value };
}
