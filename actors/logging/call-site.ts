const FRAME = /\(?((?:file:\/\/)?[^()\s]+):(\d+):\d+\)?$/;

/** `folder/file.ts:12` of the first caller outside pino and this folder, as klog names the place of a line. */
export function callSite(): string {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 12;
  const stack = new Error().stack ?? '';
  Error.stackTraceLimit = limit;
  for (const line of stack.split('\n').slice(2)) {
    const match = FRAME.exec(line.trim());
    const file = match?.[1];
    if (file === undefined || /\/node_modules\/pino\/|\/actors\/logging\/|^node:/.test(file)) continue;
    return `${file.split('/').slice(-2).join('/')}:${match?.[2] ?? '1'}`;
  }
  return '???:1';
}
