/** Does a step of a pattern take this character? */
type Takes = (character: string) => boolean;
const ANY = 'any number of characters';

/**
 * A pattern of Go's `filepath.Match` for a name without slashes: `*`, `?`, `[a-z]`, `[^a-z]`, and `\` before a character
 * that means itself. One that is malformed matches nothing, as klog ignores its error.
 */
export function filePattern(pattern: string): (name: string) => boolean {
  const steps = stepsOf([...pattern]);
  return steps === null ? () => false : (name) => matches(steps, [...name]);
}

function stepsOf(text: readonly string[]): (Takes | typeof ANY)[] | null {
  const steps: (Takes | typeof ANY)[] = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '*') steps.push(ANY);
    else if (character === '?') steps.push(() => true);
    else if (character === '[') {
      const set = characterSet(text, at + 1);
      if (set === null) return null;
      steps.push(set.takes);
      at = set.end;
    } else {
      const itself = character === '\\' ? text[++at] : character;
      if (itself === undefined) return null;
      steps.push((given) => given === itself);
    }
  }
  return steps;
}

/** What stands between brackets; `end` is where the closing one is. */
function characterSet(text: readonly string[], from: number): { takes: Takes; end: number } | null {
  const not = text[from] === '^';
  const ranges: [string, string][] = [];
  let at = not ? from + 1 : from;
  const one = (): string | undefined => {
    if (text[at] === '\\') at++;
    else if (text[at] === '-' || text[at] === ']') return undefined;
    return text[at++];
  };
  while (text[at] !== ']' || ranges.length === 0) {
    const low = one();
    if (low === undefined) return null;
    let high: string | undefined = low;
    if (text[at] === '-') {
      at++;
      high = one();
    }
    if (high === undefined) return null;
    ranges.push([low, high]);
  }
  const within = (given: string) => ranges.some(([low, high]) => low <= given && given <= high);
  return { takes: (given) => within(given) !== not, end: at };
}

/** Goes back to the last `*` only, so that the work is at most steps times characters. */
function matches(steps: readonly (Takes | typeof ANY)[], name: readonly string[]): boolean {
  let step = 0;
  let star = -1;
  let starred = 0;
  let at = 0;
  while (at < name.length) {
    const current = steps[step];
    if (current === ANY) {
      star = step++;
      starred = at;
    } else if (current !== undefined && current(name[at] ?? '')) {
      step++;
      at++;
    } else if (star >= 0) {
      step = star + 1;
      at = ++starred;
    } else return false;
  }
  return steps.slice(step).every((rest) => rest === ANY);
}
