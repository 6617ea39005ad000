import { goQuote } from '../../../machines/values/go-quote.ts';
import { firstValue } from '../server/go-query.ts';
import type { GoQuery } from '../server/go-query.ts';

/** Which streams an exec or attach wants. */
export interface RemoteCommandOptions {
  stdin: boolean;
  stdout: boolean;
  stderr: boolean;
  tty: boolean;
}

/** What the query says, or the text of a 400 answer. */
export type Parsed<T> = { ok: true; value: T } | { ok: false; error: string };

/**
 * `input`, `output`, `error` and `tty`, of which only `1` counts as yes. With a terminal there is no stderr of its own
 * (k8s.io/kubelet/pkg/cri/streaming/remotecommand NewOptions).
 */
export function remoteCommandOptions(query: GoQuery): Parsed<RemoteCommandOptions> {
  const asked = (name: string): boolean => firstValue(query, name) === '1';
  const tty = asked('tty');
  const value = { stdin: asked('input'), stdout: asked('output'), stderr: asked('error') && !tty, tty };
  if (!value.stdin && !value.stdout && !value.stderr) {
    return { ok: false, error: 'you must specify at least 1 of stdin, stdout, stderr' };
  }
  return { ok: true, value };
}

/** Characters that all ports together may have, some ten thousand ports. */
const LONGEST_PORTS = 64 * 1024;

/**
 * `port`, once or more, each a list with commas; it is needed only by WebSocket clients, since SPDY names the port with
 * each stream (portforward NewV4Options).
 */
export function portForwardPorts(query: GoQuery): Parsed<number[]> {
  const texts = query.get('port') ?? [];
  if (texts.length === 0) return { ok: false, error: 'query parameter "port" is required' };
  const ports: number[] = [];
  if (texts.reduce((sum, text) => sum + text.length, 0) > LONGEST_PORTS)
    return { ok: false, error: 'query parameter "port" is too long' };
  for (const text of texts) {
    if (text === '') return { ok: false, error: 'query parameter "port" cannot be empty' };
    for (const part of text.split(',')) {
      const trouble = !/^[0-9]+$/.test(part) ? 'invalid syntax' : Number(part) > 0xffff ? 'value out of range' : '';
      if (trouble !== '') {
        const why = `strconv.ParseUint: parsing ${goQuote(part)}: ${trouble}`;
        return { ok: false, error: `unable to parse ${goQuote(text)} as a port: ${why}` };
      }
      if (Number(part) < 1) return { ok: false, error: `port ${goQuote(text)} must be > 0` };
      ports.push(Number(part));
    }
  }
  return { ok: true, value: ports };
}
