import { defineErrors } from './define.ts';

/** Errors of the inspector: `--inspect` and `actorlet inspect`. */
export const inspectorErrors = defineErrors('INS', {
  noPage: [
    1,
    "The inspector's page is not there: {problem}.",
    'Run bin/build (or npm ci, in a checkout: the page is built when it is first needed); the API works without it.',
  ],
  ended: [
    2,
    'The inspector has ended: {problem}.',
    'Pods are not touched by that; start the agent again to have it back, and report what stands in the log.',
  ],
  needsJournal: [
    3,
    '--inspect shows what the journal holds, and --no-journal switches that off.',
    'Leave one of the two flags out.',
  ],
  notStarted: [
    4,
    'The inspector was not started: {problem}.',
    'The agent works without it; correct --inspect and start the agent again.',
  ],
  nothingThere: [
    5,
    'There is no record of a pod in {files}.',
    'Name a journal folder or its shard-*.jsonl files (see docs/journal.md).',
  ],
  badPort: [6, '--port {value} is not a port.', 'Give a number from 0 to 65535; 0 takes a free one.'],
});
