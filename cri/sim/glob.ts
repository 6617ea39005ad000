import type { SimMatch } from './script.ts';

/** What a rule is matched against: who a call, a container or an image is about. Absent facts match only `*`. */
export interface Facts {
  rpc: string;
  namespace: string;
  pod: string;
  container: string;
  image: string;
  /** Of the pod; absent when the call is about none. */
  labels?: Readonly<Record<string, string>>;
}

/** Facts of a call that is about nothing in particular. */
export const NO_FACTS: Facts = { rpc: '', namespace: '', pod: '', container: '', image: '' };

const compiled = new Map<string, RegExp>();

/** `*` stands for any characters, `?` for one. */
export function globMatches(glob: string, text: string): boolean {
  if (glob === '*') return true;
  let expression = compiled.get(glob);
  if (expression === undefined) {
    const source = glob
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.');
    // eslint-disable-next-line no-restricted-syntax -- the pattern is the test's own script
    expression = new RegExp(`^${source}$`, 's');
    compiled.set(glob, expression);
  }
  return expression.test(text);
}

/** True when every given field of `match` fits; a list fits when one of its globs does. */
export function factsMatch(match: SimMatch, facts: Facts): boolean {
  return (
    anyMatches(match.rpc, facts.rpc) &&
    anyMatches(match.namespace, facts.namespace) &&
    anyMatches(match.pod, facts.pod) &&
    anyMatches(match.container, facts.container) &&
    anyMatches(match.image, facts.image) &&
    labelsMatch(match.labels, facts.labels)
  );
}

function labelsMatch(wanted: SimMatch['labels'], labels: Facts['labels']): boolean {
  if (wanted === undefined) return true;
  return Object.entries(wanted).every(([key, glob]) => {
    const value = labels?.[key];
    return value !== undefined && globMatches(glob, value);
  });
}

/** True when one of the globs fits, or none is given. */
export function anyMatches(globs: readonly string[] | undefined, text: string): boolean {
  if (globs === undefined) return true;
  for (const glob of globs) if (globMatches(glob, text)) return true;
  return false;
}
