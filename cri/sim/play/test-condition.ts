import { FileProblem } from './container-files.ts';
import type { ContainerFiles } from './container-files.ts';

const NUMBERS: Record<string, (a: number, b: number) => boolean> = {
  '-eq': (a, b) => a === b,
  '-ne': (a, b) => a !== b,
  '-lt': (a, b) => a < b,
  '-le': (a, b) => a <= b,
  '-gt': (a, b) => a > b,
  '-ge': (a, b) => a >= b,
};

/** `test` and `[`: 0 when the condition holds, 1 when not, 2 when it is not understood. */
export function testCondition(words: readonly string[], files: ContainerFiles): number {
  const [first = '', second = '', third = ''] = words;
  if (first === '!') {
    const code = testCondition(words.slice(1), files);
    return code === 2 ? 2 : 1 - code;
  }
  if (words.length === 1) return first === '' ? 1 : 0;
  if (words.length === 2) return testOne(first, second, files);
  if (words.length !== 3) return 2;
  if (second === '=' || second === '==') return first === third ? 0 : 1;
  if (second === '!=') return first === third ? 1 : 0;
  const compare = NUMBERS[second];
  if (compare === undefined || !/^-?\d+$/.test(first) || !/^-?\d+$/.test(third)) return 2;
  return compare(Number(first), Number(third)) ? 0 : 1;
}

function testOne(operator: string, operand: string, files: ContainerFiles): number {
  if (operator === '-z') return operand === '' ? 0 : 1;
  if (operator === '-n') return operand === '' ? 1 : 0;
  if (!['-e', '-f', '-d', '-s'].includes(operator)) return 2;
  try {
    const stats = files.stat(operand);
    // a file in memory is a plain file
    const holds = {
      '-e': true,
      '-f': stats?.isFile() ?? true,
      '-d': stats?.isDirectory() ?? false,
      '-s': (stats?.size ?? files.read(operand).length) > 0,
    }[operator];
    return holds === true ? 0 : 1;
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    return 1;
  }
}
