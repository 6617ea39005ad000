import type { FlagSpec } from './flag-spec.ts';

/** Logs. */
export const loggingFlags: readonly FlagSpec[] = [
  {
    name: 'v',
    kind: 'int',
    group: 'Logging',
    field: 'logging.verbosity',
    preset: '0',
    usage: 'verbosity: 0 and 1 info, 2 to 4 debug, 5 and more trace',
  },
  {
    name: 'logging-format',
    kind: 'string',
    group: 'Logging',
    field: 'logging.format',
    preset: 'text',
    deprecated: 'file',
    usage: 'text (as klog writes it) or json',
  },
  {
    name: 'vmodule',
    kind: 'vmodule',
    group: 'Logging',
    field: 'logging.vmodule',
    usage: 'verbosity of single source files, as pattern=N (text only)',
  },
  {
    name: 'log-flush-frequency',
    kind: 'duration',
    group: 'Logging',
    field: 'logging.flushFrequency',
    preset: '5s',
    usage: 'how often gathered info is written (see log-text-info-buffer-size); all else is written at once',
  },
];
