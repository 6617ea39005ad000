import { invalid, type Problems, rangeRule } from './problem.ts';

/**
 * Name rules of Kubernetes (apimachinery `util/validation`). Each function gives the rules that a value breaks,
 * in the API server's words; an empty list means that it is fine.
 */

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const LABEL_ = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const CONFIG_KEY = '[-._a-zA-Z0-9]+';
const HEADER = '[-A-Za-z0-9]+';

/** Rule, examples and expression in one sentence, as the API server writes them. */
function regexRule(rule: string, expression: string, ...examples: string[]): string {
  if (examples.length === 0) return `${rule} (regex used for validation is '${expression}')`;
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  return `${rule} (e.g. ${shown}regex used for validation is '${expression}')`;
}

const maxLength = (max: number): string => `must be no more than ${max} characters`;
// eslint-disable-next-line no-restricted-syntax -- its parts are constants of this file
const matches = (value: string, expression: string): boolean => new RegExp(`^(?:${expression})$`).test(value);

/** DNS-1123 label: container, volume and host names. */
export function dnsLabel(value: string): string[] {
  const broken = value.length > 63 ? [maxLength(63)] : [];
  if (matches(value, LABEL)) return broken;
  const rule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  return [...broken, regexRule(rule, LABEL, 'my-name', '123-abc')];
}

/** DNS-1123 subdomain: pod and object names. */
export function dnsSubdomain(value: string): string[] {
  const expression = `${LABEL}(\\.${LABEL})*`;
  const broken = value.length > 253 ? [maxLength(253)] : [];
  if (matches(value, expression)) return broken;
  const rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";
  return [...broken, regexRule(rule, expression, 'example.com')];
}

/** Search path of a pod's DNS configuration: a subdomain that may hold underscores. */
export function dnsSearch(value: string): string[] {
  const expression = `${LABEL_}(\\.${LABEL_})*`;
  const broken = value.length > 253 ? [maxLength(253)] : [];
  if (matches(value, expression)) return broken;
  const rule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
  return [...broken, regexRule(rule, expression, 'example.com')];
}

/** Qualified name: label and annotation keys, resource names, condition types. */
export function qualifiedName(value: string): string[] {
  const parts = value.split('/');
  const rule =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  if (parts.length > 2) {
    const whole =
      "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    return [
      `${regexRule(whole, QUALIFIED, 'MyName', 'my.name', '123-abc')} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = parts.at(-1) ?? '';
  const broken: string[] = [];
  if (parts.length === 2) {
    if (parts[0] === '') broken.push('prefix part must be non-empty');
    else broken.push(...dnsSubdomain(parts[0] ?? '').map((text) => `prefix part ${text}`));
  }
  if (name === '') broken.push('name part must be non-empty');
  else if (name.length > 63) broken.push(`name part ${maxLength(63)}`);
  if (!matches(name, QUALIFIED)) broken.push(regexRule(rule, QUALIFIED, 'MyName', 'my.name', '123-abc'));
  return broken;
}

/** Value of a label or of a toleration. */
export function labelValue(value: string): string[] {
  const expression = `(${QUALIFIED})?`;
  const broken = value.length > 63 ? [maxLength(63)] : [];
  if (matches(value, expression)) return broken;
  const rule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
  return [...broken, regexRule(rule, expression, 'MyValue', 'my_value', '12345')];
}

/** Environment variable name: printable ASCII without `=` (RelaxedEnvironmentVariableValidation, GA in 1.34). */
export function envName(value: string): string[] {
  if (value === '') return ['environment variable name must be non-empty'];
  return /^[\x20-\x3c\x3e-\x7e]+$/.test(value)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

/** Key of a ConfigMap or Secret. */
export function configKey(value: string): string[] {
  const broken = value.length > 253 ? [maxLength(253)] : [];
  if (!matches(value, CONFIG_KEY)) {
    const rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
    broken.push(regexRule(rule, CONFIG_KEY, 'key.name', 'KEY_NAME', 'key-name'));
  }
  if (value === '.') broken.push("must not be '.'");
  else if (value === '..') broken.push("must not be '..'");
  else if (value.startsWith('..')) broken.push("must not start with '..'");
  return broken;
}

/** Name of an HTTP header in a probe or hook. */
export function headerName(value: string): string[] {
  if (matches(value, HEADER)) return [];
  return [regexRule("a valid HTTP header must consist of alphanumeric characters or '-'", HEADER, 'X-Header-Name')];
}

/** Name of a port: at most 15 of `a-z 0-9 -`, at least one letter. */
export function portName(value: string): string[] {
  const broken: string[] = [];
  if (value.length > 15) broken.push(maxLength(15));
  if (!/^[-a-z0-9]+$/.test(value))
    broken.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/.test(value)) broken.push('must contain at least one letter (a-z)');
  if (value.includes('--')) broken.push('must not contain consecutive hyphens');
  if (value.startsWith('-') || value.endsWith('-')) broken.push('must not begin or end with a hyphen');
  return broken;
}

/** Number of a port. */
export function portNumber(value: number): string[] {
  return value >= 1 && value <= 65535 ? [] : [rangeRule(1, 65535)];
}

/** Reports every broken rule of a value. */
export function* named(field: string, value: string, rule: (value: string) => string[]): Problems {
  for (const broken of rule(value)) yield invalid(field, value, broken);
}

/** IPv4 in dotted form or IPv6. Leading zeros are no address in either. */
export function isIp(value: string): boolean {
  const quad = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.|$)){4}$/;
  if (!value.includes(':')) return quad.test(value) && !value.endsWith('.');
  const tail = value.slice(value.lastIndexOf(':') + 1);
  if (tail.includes('.') && !(quad.test(tail) && !tail.endsWith('.'))) return false;
  const groups = (tail.includes('.') ? `${value.slice(0, -tail.length)}0:0` : value).split('::');
  if (groups.length > 2) return false;
  const parts = groups.flatMap((group) => (group === '' ? [] : group.split(':')));
  if (!parts.every((part) => /^[0-9a-fA-F]{1,4}$/.test(part))) return false;
  return groups.length === 2 ? parts.length < 8 : parts.length === 8;
}

/** Paths inside a volume: relative and without `..`. */
export function* descendingPath(field: string, path: string): Problems {
  if (path.startsWith('/')) yield invalid(field, path, 'must be a relative path');
  yield* noBacksteps(field, path);
}

/** No element of the path may be `..`. */
export function* noBacksteps(field: string, path: string): Problems {
  if (path.split('/').includes('..')) yield invalid(field, path, "must not contain '..'");
}

/** A path for a projected file: descending, and its name does not start with `..` (kept for the atomic writer). */
export function* unreservedPath(field: string, path: string): Problems {
  yield* descendingPath(field, path);
  if (path.startsWith('..') && !path.startsWith('../') && path !== '..')
    yield invalid(field, path, "must not start with '..'");
}
