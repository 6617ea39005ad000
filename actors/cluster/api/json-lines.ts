/** Longest line of a watch, bytes: an object in etcd has 1.5 MiB at most, and JSON takes a few times as much. */
const MAX_LINE = 64 * 1024 * 1024;

/** What came is no JSON. */
export class NotJson extends Error {}

/** The JSON values of a stream of bytes with one value to a line (a watch). A cut in the middle of a line throws. */
export async function* jsonLines(body: AsyncIterable<Buffer>): AsyncGenerator<unknown> {
  // Parts of a line that has not ended; joined once, so that a large object costs no repeated copies.
  let parts: Buffer[] = [];
  let held = 0;
  for await (const chunk of body) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const rest = chunk.subarray(from, end);
      const line = parts.length === 0 ? rest : Buffer.concat([...parts, rest]);
      parts = [];
      held = 0;
      from = end + 1;
      if (line.length > 0) yield parseJson(line.toString('utf8'));
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
    held += chunk.length - from;
    if (held > MAX_LINE) throw new NotJson(`the server sent a line longer than ${String(MAX_LINE)} bytes`);
  }
  const last = Buffer.concat(parts).toString('utf8');
  if (last.trim() !== '') yield parseJson(last);
}

/** JSON.parse whose error shows nothing of the text, which may be a secret. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Node's SyntaxError quotes the text, so it is no cause either.
    throw new NotJson('the server sent something that is not JSON');
  }
}
