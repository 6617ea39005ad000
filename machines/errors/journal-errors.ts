import { defineErrors } from './define.ts';

/** Errors of the message journal and of replay. */
export const journalErrors = defineErrors('JRN', {
  unreadableFile: [
    1,
    'The journal file {file} cannot be read: {problem}.',
    'Name an existing .jsonl or .jsonl.gz file, or a folder of them.',
  ],
  badRecord: [
    2,
    '{file}, line {line}: not a journal record: {problem}.',
    'The file is damaged from here on; replay what stands before it, or use another copy.',
  ],
  unknownVersion: [
    3,
    '{file}, line {line}: journal version {version} is not known here (known: {known}).',
    'Replay it with the actorlet that wrote it, or a later one.',
  ],
  cannotWrite: [
    4,
    'The journal in {dir} cannot be written: {problem}.',
    'Free space there or set --journal-dir; the agent goes on without a journal meanwhile.',
  ],
  noStart: [
    5,
    '{file}, line {line}: a message for pod {uid}, whose beginning is not in the files given.',
    'Give the earlier segments too, or start at a segment that has its snapshot.',
  ],
  missingSegments: [
    6,
    '{file}, line {line}: {log} goes on here with segment {seq}; {count} before it are missing.',
    'Give the missing files too; what came between is unknown, and the pods go on as this segment has them.',
  ],
  unknownPod: [
    7,
    'No pod {pod} is in the journal files given.',
    'Name it by namespace/name or UID, as `actorlet pods` shows it.',
  ],
  unusable: [
    9,
    'What the journal says of {pod} makes no sense: {problem}.',
    'The files are damaged; run `actorlet replay` on them to see where, and use what stands before it, or another copy.',
  ],
  unknownKinds: [
    10,
    'Records of kind {kinds} are not known here and were left out.',
    'Nothing, when all else is identical: a later actorlet wrote them, and knows what they mean.',
  ],
  unknownMoment: [
    8,
    '{flag} {value} is neither a message number nor a time.',
    'Give a number, a time like 2026-01-31T12:00:00Z, or milliseconds since the epoch.',
  ],
  nothingThere: [
    11,
    'There is no recorded message in {files}.',
    "Name a journal folder or its .jsonl or .jsonl.gz files; a running agent's is the folder journal below its --root-dir.",
  ],
  diskStalls: [
    12,
    'The disk of the journal in {dir} stalls: {problem}; the agent goes on without a journal.',
    'Look for what keeps the disk (dmesg, iostat); when it answers again, the journal goes on in a new segment.',
  ],
});
