import { unescapePath } from './go-query.ts';

/** Web services whose paths go-restful takes with and without a slash at the end. */
const SLASH_IS_FREE = /^(\/(?:run|exec|attach|portForward|containerLogs|checkpoint)\/[^?]*[^/?])\/+(\?|$)/;

/** The request target without scheme and host, which a client of a proxy may send. */
export function pathAndQuery(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?#]*/i, '');
}

/** The path as Go has it in `URL.Path`. It is decoded once, as the router decodes it. */
export function decodedPath(target: string): string {
  const path = pathAndQuery(target).replace(/[?#].*$/s, '');
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * The target as the router is to see it: without a slash that go-restful does not mind, and with bytes that are no text
 * replaced: they name nothing, and the router would answer 400 where Go looks, and finds nothing.
 */
export function routed(target: string): string {
  const url = target.replace(SLASH_IS_FREE, '$1$2');
  const end = url.search(/[?#]|$/);
  return url.slice(0, end).split('/').map(asText).join('/') + url.slice(end);
}

function asText(part: string): string {
  try {
    decodeURIComponent(part);
    return part;
  } catch {
    // A broken escape stays: Go answers 400 to it as well.
    const text = unescapePath(part);
    return text === undefined ? part : encodeURIComponent(text);
  }
}
