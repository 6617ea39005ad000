/** One of several replays of the same journal beside each other: each steps pods of its own. */
export interface ReplayPart {
  /** From 0; the first one has all that are no pods, too. */
  index: number;
  of: number;
}

/** Which part steps a pod. */
export function partOfPod(uid: string, of: number): number {
  return partOfText(uid, 0, uid.length, of);
}

/** Units of a UID that tell its part. */
const TOLD_BY = 12;

/** The part that a UID has, which stands in `text` from `start` to `end`. */
function partOfText(text: string, start: number, end: number, of: number): number {
  let hash = 0x811c9dc5 | 0;
  for (let i = Math.max(start, end - TOLD_BY); i < end; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % of;
}

/** Kinds of other machines than pods have a dot: `sup.msg`. */
const OF_OTHERS = /^\{"r":"[a-z]+\./;
const UID = ',"uid":"';
const [QUOTE, BACKSLASH, ZERO, NINE] = ['"', '\\', '0', '9'].map((c) => c.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
];

/** Where the number or UID of a record begins; 0 when it is no record of one pod. */
function headLength(text: string): number {
  switch (text.charCodeAt(6)) {
    case 0x6d:
      return text.startsWith('{"r":"msg","n":') ? 15 : 0;
    case 0x73:
      return text.startsWith('{"r":"step","n":') ? 16 : text.startsWith('{"r":"snap",') ? 11 : 0;
    case 0x66:
      return text.startsWith('{"r":"fault","n":') ? 17 : 0;
    default:
      return 0;
  }
}

/**
 * Which part a line is for, as far as its beginning tells without parsing it; null when it does not: the line is for all
 * (segments, specs), or is written or damaged in a way that only parsing can tell.
 */
export function partOfLine(text: string, of: number): number | null {
  let at = headLength(text);
  if (at === 0) return OF_OTHERS.test(text) ? 0 : null;
  for (let code = text.charCodeAt(at); code >= ZERO && code <= NINE; code = text.charCodeAt(at)) at++;
  if (!text.startsWith(UID, at)) return null;
  const start = at + UID.length;
  for (let end = start; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === QUOTE) return partOfText(text, start, end, of);
    if (code === BACKSLASH) return null;
  }
  return null;
}
