import type { Lane } from './inspector-api.ts';
import { isObject } from '../../../machines/values/json-object.ts';

const LANES: readonly (readonly [prefix: string, lane: Lane])[] = [
  ['pods.observe', 'pleg'],
  ['cri.', 'cri'],
  ['image.', 'images'],
  ['host.', 'host'],
  ['net.', 'network'],
  ['event.', 'api'],
  ['status.', 'api'],
  ['pleg.', 'pleg'],
  ['pod.', 'supervisor'],
];

/** Who carries out an effect. */
export function effectLane(type: string): Lane {
  return LANES.find(([prefix]) => type.startsWith(prefix))?.[1] ?? 'supervisor';
}

/** Who sent a message. @param source the pod's, e.g. `api`; `node` for a message to the node */
export function messageLane(message: Record<string, unknown>, source: string): Lane {
  switch (message['type']) {
    case 'runtime.state':
      return source === 'node' ? 'cri' : 'supervisor';
    case 'pleg.state':
      return 'pleg';
    case 'sources.ready':
      return 'sources';
    case 'node.registered':
      return 'api';
    case 'pod.start':
    case 'pod.update':
    case 'pod.terminate':
      return source === 'api' ? 'api' : source === 'orphan' ? 'supervisor' : 'sources';
    case 'pod.refresh':
      return 'api';
    case 'pull.turn':
      return 'images';
    case 'pod.observed':
    case 'pod.unseen':
      return 'pleg';
    case 'timer':
      return 'timer';
    case 'effect.done':
    case 'effect.failed':
      return effectLane(text(message['effect']));
    default:
      return 'supervisor';
  }
}

/** A message in a few words. */
export function messageWords(message: Record<string, unknown>): string {
  switch (message['type']) {
    case 'pod.start':
      return isObject(message['rejection']) ? `rejected: ${text(message['rejection']['reason'])}` : startWords(message);
    case 'pod.update':
      return 'new spec';
    case 'pod.terminate':
      return isObject(message['order']) ? text(message['order']['reason']) : '';
    case 'pod.refresh':
      return 'an object that its volumes show has changed';
    case 'pod.observed':
      return observedWords(message['observed']);
    case 'pod.unseen':
      return 'the runtime fails to say what it holds of it';
    case 'pod.sync':
      return 'nodeIPs' in message ? 'the node has other addresses' : 'resync';
    case 'timer':
      return 'a deadline has come';
    case 'clock.steppedBack':
      return `the clock was set back by ${String(Number(message['byMs']) / 1000)} s`;
    case 'runtime.state':
      return runtimeWords(message);
    case 'pod.grants':
      return 'the CPUs that it shares with others, or has alone, are told';
    case 'pod.admit':
      return 'the node has judged it';
    case 'pod.health':
      return 'the health of its devices is told';
    case 'pull.turn':
      return turnWords(message);
    case 'node.start':
      return `the agent ${text(message['agent'])} begins`;
    case 'pleg.state':
      return text(message['problem']) || 'PLEG is well';
    case 'sources.ready':
      return 'all sources of pods have spoken';
    case 'node.registered':
      return 'the API server has the node';
    case 'node.stop':
      return 'the agent ends';
    case 'effect.done':
      return `${text(message['effect'])} ${subjectOf(text(message['key']))}${resultWords(message['result'])}`.trim();
    case 'effect.failed':
      return `${text(message['effect'])} ${subjectOf(text(message['key']))}: ${errorWords(message['error'])}`;
    default:
      return '';
  }
}

/** An effect in a few words. */
export function effectWords(type: string, key: string, params: unknown): string {
  const p = isObject(params) ? params : {};
  switch (type) {
    case 'status.Publish':
      return cut(text(p['why']) || text(p['state']));
    case 'event.Record':
      return cut(`${text(p['reason'])}: ${text(p['message'])}`);
    case 'image.Pull':
    case 'image.Status':
      return cut(text(p['image']));
    case 'cri.ExecSync':
      return cut(Array.isArray(p['cmd']) ? p['cmd'].slice(0, 8).join(' ') : '');
    case 'net.HttpGet':
      return cut(`${text(p['scheme'])}://${text(p['host'])}:${text(p['port'])}${text(p['path'])}`);
    case 'net.TcpConnect':
    case 'net.GrpcHealth':
      return cut(`${text(p['host'])}:${text(p['port'])}`);
    case 'pods.tellRuntime':
      return runtimeWords(p);
    case 'host.SetUpVolumes':
      return Array.isArray(p['volumes']) ? counted(p['volumes'].length, 'volume') : '';
    default:
      return subjectOf(key);
  }
}

/** An error as a failed effect tells it. */
export function errorWords(error: unknown): string {
  if (!isObject(error)) return '';
  return cut(`${text(error['code'])}: ${text(error['message'])}`);
}

/** What an effect is about, from its key: `container/web/3` -> `web`, `task/sandbox/1` -> `sandbox`. */
export function subjectOf(key: string): string {
  const parts = key.split('/');
  if (parts[0] === 'container') return parts[1] ?? '';
  if (parts[0] === 'probe') return parts.slice(1, 3).join(' ');
  if (parts[0] === 'task') return parts.slice(1, -1).map(shortId).join(' ');
  return shortId(parts[1] ?? parts[0] ?? '');
}

/** Ids of containers and sandboxes are cut as `crictl` does. */
function shortId(word: string): string {
  return /^[0-9a-f]{32,}$/.test(word) ? word.slice(0, 13) : word;
}

function startWords(message: Record<string, unknown>): string {
  const known = message['memory'] === null || message['memory'] === undefined ? '' : ', with what is remembered';
  return `from ${text(message['source'])}${known}`;
}

function observedWords(observed: unknown): string {
  if (!isObject(observed) || !Array.isArray(observed['containers']) || !Array.isArray(observed['sandboxes'])) return '';
  const { containers, sandboxes } = observed as { containers: unknown[]; sandboxes: unknown[] };
  const states = containers.map((c) => (isObject(c) ? `${text(c['name'])} ${text(c['state'])}` : ''));
  const parts = [counted(sandboxes.length, 'sandbox', 'sandboxes'), ...states];
  return cut(parts.join(', '));
}

function turnWords({ key, place }: Record<string, unknown>): string {
  const subject = subjectOf(text(key));
  if (!isObject(place)) return `${subject}: its pull begins`;
  return `${subject}: its pull waits, in place ${text(place['place'])} of the queue`;
}

function runtimeWords(message: Record<string, unknown>): string {
  const { messages } = message;
  if (message['quiet'] === true) return 'the runtime does not answer';
  if (Array.isArray(messages) && messages.length > 0) return cut(messages.map(text).join(', '));
  if (message['runtimeReady'] !== true) return 'the runtime is not ready';
  return message['networkReady'] === true ? 'runtime and network are ready' : 'the network is not ready';
}

function resultWords(result: unknown): string {
  if (!isObject(result)) return '';
  if (typeof result['exitCode'] === 'number' && typeof result['output'] === 'string')
    return `: exit code ${String(result['exitCode'])}`;
  if (result['present'] === null) return ': not there';
  return typeof result['status'] === 'number' ? `: ${String(result['status'])}` : '';
}

function counted(n: number, one: string, many = `${one}s`): string {
  return `${String(n)} ${n === 1 ? one : many}`;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

const MAX_WORDS = 200;

/** At most so many letters. */
export function cut(words: string): string {
  return words.length <= MAX_WORDS ? words : `${words.slice(0, MAX_WORDS)}…`;
}
