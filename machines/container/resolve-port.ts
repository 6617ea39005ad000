import type { Container } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { goQuote } from '../values/go-quote.ts';

/** From here on a numeral is no integer of Go. */
const OUT_OF_RANGE = 2 ** 63;

/**
 * The port that a probe or a hook names, by number, by numeral or by the name that the container gives it; or why there is none, in
 * kubelet's words (`ResolveContainerPort`).
 */
export function resolvePort(
  port: number | string,
  container: Container,
  settings: Pick<NodeSettings, 'behaviour'>,
): { port: number } | { error: string } {
  const named = container.ports?.find(({ name }) => name !== undefined && name === port)?.containerPort;
  if (!behaves(settings, 'unknownPortsAreTold')) return oldPort(named ?? port);
  const found = named ?? (typeof port === 'number' ? port : atoi(port));
  if (typeof found !== 'number') return found;
  return found > 0 && found < 65536 ? { port: found } : { error: `invalid port number: ${String(found)}` };
}

/** Go's `strconv.Atoi`. */
function atoi(text: string): number | { error: string } {
  const failed = (why: string) => ({ error: `strconv.Atoi: parsing ${goQuote(text)}: ${why}` });
  if (!/^[+-]?[0-9]+$/.test(text)) return failed('invalid syntax');
  const n = Number(text);
  return Math.abs(n) < OUT_OF_RANGE ? n : failed('value out of range');
}

function oldPort(port: number | string): { port: number } | { error: string } {
  if (typeof port === 'number') return { port };
  const n = Number(port);
  if (Number.isInteger(n) && n > 0 && n < 65536) return { port: n };
  return { error: `couldn't find port: ${JSON.stringify(port)}` };
}
