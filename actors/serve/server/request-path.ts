import { isUtf8 } from 'node:buffer';

/** Web services whose paths go-restful takes with and without a slash at the end; with several of them Go's mux has sent the client on. */
const SLASH_IS_FREE = /^(\/(?:run|exec|attach|portForward|containerLogs|checkpoint)\/[^?]*[^/?])\/(\?|$)/;

/**
 * Longest path, characters. The longest names are those of files, 4096 bytes, each of which may be escaped; commands of
 * exec stand in the query.
 */
const LONGEST_PATH = 16 * 1024;

/** The request target without scheme and host, which a client of a proxy may send. */
function pathAndQuery(target: string): string {
  if (target.startsWith('/')) return target;
  const bare = target.replace(/^https?:\/\/[^/?#]*/i, '');
  return bare === target || bare.startsWith('/') ? bare : `/${bare}`;
}

/** The path as Go has it in `URL.Path`. It is decoded once, as the router decodes it. */
export function decodedPath(target: string): string {
  const path = pathAndQuery(target).split(/[?#]/, 1)[0] ?? '';
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * The target as the router and the routes are to see it: without scheme and host, and without a slash that go-restful does
 * not mind. Bytes that are no text are replaced: they name nothing, and the router would answer 400 where Go looks, and
 * finds nothing. For the same reason a path that no name can be as long as is cut: each part of it costs time, and this is
 * before anyone is asked who he is.
 */
export function routed(target: string): string {
  const url = pathAndQuery(target).replace(SLASH_IS_FREE, '$1$2');
  const end = url.search(/[?#]|$/);
  return asText(url.slice(0, Math.min(end, LONGEST_PATH))) + url.slice(end);
}

/** Escapes of bytes that are no ASCII, one after the other; a broken escape stays: Go answers 400 to it as well. */
const HIGH_BYTES = /(?:%[89a-f][0-9a-f])+/gi;

function asText(path: string): string {
  if (!path.includes('%')) return path;
  return path.replace(HIGH_BYTES, (escapes) => {
    const bytes = Buffer.from(escapes.replaceAll('%', ''), 'hex');
    return isUtf8(bytes) ? escapes : encodeURIComponent(bytes.toString('utf8'));
  });
}
