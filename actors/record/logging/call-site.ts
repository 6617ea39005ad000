import { inBundle } from './bundled-lines.ts';

/** Frames that are no caller: the logger's own, and Node's. */
const NOT_A_CALLER = /\/node_modules\/pino\/|(?:^|\/)actors\/record\/logging\/|^node:/;

/** `folder/file.ts:12` of the first caller outside pino and this folder, as klog names the place of a line. */
export function callSite(): string {
  for (const frame of frames()) {
    const file = frame.getFileName();
    if (file === null) continue;
    const line = frame.getLineNumber() ?? 1;
    const place = inBundle(file, line) ?? { file, line };
    if (NOT_A_CALLER.test(place.file)) continue;
    return `${place.file.split('/').slice(-2).join('/')}:${place.line}`;
  }
  return '???:1';
}

/** The stack as objects: no text is made of it, which costs ten times as much, and each line of the log asks. */
function frames(): NodeJS.CallSite[] {
  const { stackTraceLimit, prepareStackTrace } = Error;
  Error.stackTraceLimit = 12;
  Error.prepareStackTrace = (_error, sites) => sites;
  const { stack } = new Error() as unknown as { stack: NodeJS.CallSite[] };
  Error.stackTraceLimit = stackTraceLimit;
  Error.prepareStackTrace = prepareStackTrace;
  return stack;
}
