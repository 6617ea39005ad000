/** Frames that are no caller: those of pino and of Node, and the logger's own, which lie in this folder. */
const NOT_A_CALLER = /\/node_modules\/pino\/|^node:/;
const THIS_FOLDER = new URL('.', import.meta.url).href;

/** `folder/file.ts:12` of the first caller outside pino and this folder, as klog names the place of a line. */
export function callSite(): string {
  for (const frame of frames()) {
    const file = frame.getFileName();
    if (file === null || NOT_A_CALLER.test(file) || file.startsWith(THIS_FOLDER)) continue;
    return `${file.split('/').slice(-2).join('/')}:${frame.getLineNumber() ?? 1}`;
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
