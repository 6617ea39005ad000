import { isIP } from 'node:net';

/** Port of the inspector when none is named: beside kubelet's 10248 to 10259, none of which it is. */
export const INSPECTOR_PORT = 10_270;

/** Where the inspector listens. */
export interface InspectorAddress {
  /** IP address or name; `127.0.0.1` when none is named. */
  host: string;
  port: number;
}

/** Reads `HOST:PORT`, `HOST`, `:PORT`, `PORT` or `[::1]:PORT`; null when it is none of them. */
export function inspectorAddress(text: string): InspectorAddress | null {
  const bracketed = /^\[([^\]]*)\](?::(\d+))?$/.exec(text);
  const plain = /^(?:([A-Za-z0-9.-]*?):)?(\d+)$/.exec(text);
  if (bracketed !== null) return isIP(bracketed[1] ?? '') === 6 ? made(bracketed[1], bracketed[2]) : null;
  if (isIP(text) === 6) return made(text, undefined);
  if (plain !== null) return made(plain[1], plain[2]);
  return text === '' || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text) ? made(text, undefined) : null;
}

function made(host: string | undefined, port: string | undefined): InspectorAddress | null {
  const number = port === undefined ? INSPECTOR_PORT : Number(port);
  return number > 65_535 ? null : { host: host === undefined || host === '' ? '127.0.0.1' : host, port: number };
}
