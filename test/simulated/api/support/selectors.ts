import { isJson } from './stored-object.ts';
import type { StoredObject } from './stored-object.ts';

/** `metadata.name=a,spec.nodeName!=b`: every term must hold; a field that is missing counts as ''. */
export function matchesFields(selector: string, object: StoredObject): boolean {
  return terms(selector).every((term) => compare(term, (path) => fieldText(object, path)));
}

/** `a=b,c!=d,e,!f` over labels (no `in (...)`). */
export function matchesLabels(selector: string, object: StoredObject): boolean {
  const labels = object.metadata.labels ?? {};
  return terms(selector).every((term) => {
    if (term.startsWith('!')) return !(term.slice(1) in labels);
    if (!term.includes('=')) return term in labels;
    return compare(term, (key) => labels[key] ?? '');
  });
}

function terms(selector: string): string[] {
  return selector.split(',').filter((term) => term !== '');
}

function compare(term: string, valueOf: (path: string) => string): boolean {
  const match = /^(.*?)(!=|==|=)(.*)$/.exec(term);
  if (match === null) throw new Error(`fake API server: cannot read selector '${term}'`);
  const [, path = '', operator, wanted = ''] = match;
  return (valueOf(path) === wanted) === (operator !== '!=');
}

function fieldText(object: StoredObject, path: string): string {
  let at: unknown = object;
  for (const part of path.split('.')) at = isJson(at) ? at[part] : undefined;
  return at === undefined || at === null ? '' : String(at as string | number | boolean);
}
