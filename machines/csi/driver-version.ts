import { goQuote } from '../values/go-quote.ts';

/** A version by its numbers, `[1, 5, 0]`. */
export type DriverVersion = readonly number[];

/** The numbers that a version begins with, whatever follows them. Nothing of it grows faster than the text. */
const NUMBERS = /^\s*v?(\d+(?:\.\d+)*)/;
const LONGEST = 256;
/** So much of what is none is told: quoting a mebibyte of it would hold the thread. */
const SHOWN = 4096;

/**
 * The highest version 1.x of those that a driver speaks, as apimachinery's `HighestSupportedVersion` judges them.
 * Throws, in its words, when there is none.
 */
export function highestVersion(versions: readonly string[]): DriverVersion {
  let highest: DriverVersion | null = null;
  let problem = '<nil>';
  for (const text of versions.toReversed()) {
    let version: DriverVersion;
    try {
      version = parsed(text);
    } catch (error) {
      problem = (error as Error).message;
      continue;
    }
    if ((version[0] ?? 0) > 1) continue;
    if (highest === null || compareVersions(highest, version) < 0) highest = version;
  }
  if (highest === null)
    throw new Error(
      `could not find a highest supported version from versions ([${versions.join(' ')}]) reported: ${problem}`,
    );
  if (highest[0] !== 1) throw new Error(`highest supported version reported is ${versionText(highest)}, must be v1.x`);
  return highest;
}

/** Less than 0 when `a` is the lower one. What one of them lacks counts as 0. */
export function compareVersions(a: DriverVersion, b: DriverVersion): number {
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    const difference = (a[at] ?? 0) - (b[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/** As people write it: `1.5.0`. */
export function versionText(version: DriverVersion): string {
  return version.join('.');
}

function parsed(whole: string): DriverVersion {
  const text = whole.slice(0, SHOWN);
  const numbers = NUMBERS.exec(text.slice(0, LONGEST))?.[1];
  if (numbers === undefined) throw new Error(`could not parse ${goQuote(text)} as version`);
  const parts = numbers.split('.');
  if (parts.length < 2) throw new Error(`illegal version string ${goQuote(text)}`);
  const [first = ''] = parts;
  if (first.startsWith('0') && first !== '0')
    throw new Error(`illegal zero-prefixed version component ${goQuote(first)} in ${goQuote(text)}`);
  return parts.map(Number);
}
