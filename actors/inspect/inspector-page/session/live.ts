import { batch, effect } from '@preact/signals';
import { messageOf } from '../../../../machines/values/message-of.ts';
import type { LiveMessage, PodLine } from '../../inspector/inspector-api.ts';
import { mergePods } from '../model/pod-list.ts';
import { retryDelay } from '../model/retry-delay.ts';
import { loadDetail } from './detail.ts';
import { onMoreSteps } from './load-steps.ts';
import { liveAddress, server, ServerError } from './server.ts';
import * as s from './session.ts';
import { startPod } from './travel.ts';

let failures = 0;
let timer = 0;
/** News of pods by uid; null: it is no longer in the journal. */
let told = new Map<string, PodLine | null>();
let flushing = 0;
/** Pods are taken into the list at most this often, ms: a busy node tells of many a second. */
const FLUSH_MS = 250;

/** Loads what the page needs first, then listens; tries again, ever more slowly, when the server is away. */
export async function connect(): Promise<void> {
  clearTimeout(timer);
  s.retryAt.value = 0;
  try {
    const [about, pods, node, machines] = await Promise.all([
      server.about(),
      server.pods(),
      server.node(),
      server.machines(),
    ]);
    batch(() => {
      s.about.value = about;
      s.node.value = node;
      s.machines.value = new Map(machines.map((machine) => [machine.uid, machine]));
      s.pods.value = new Map(pods.map((pod) => [pod.uid, pod]));
      const first = !s.podsLoaded.value;
      s.podsLoaded.value = true;
      s.trouble.value = '';
      s.now.value = about.mode === 'live' ? Date.now() : about.to;
      if (first) startPod();
      else onMoreSteps(s.pod.value?.steps ?? 0);
      s.connection.value = about.mode === 'live' ? s.connection.value : 'files';
    });
    failures = 0;
    if (about.mode === 'live') listen();
  } catch (error) {
    s.trouble.value = messageOf(error);
    if (error instanceof ServerError && (error.status === 401 || error.status === 403)) {
      s.connection.value = 'refused';
      return;
    }
    retry();
  }
}

function retry(): void {
  const delay = retryDelay(failures++, Math.random());
  s.connection.value = 'lost';
  s.retryAt.value = Date.now() + delay;
  clearTimeout(timer);
  timer = window.setTimeout(() => void connect(), delay);
}

function listen(): void {
  const socket = new WebSocket(liveAddress());
  socket.addEventListener('open', () => {
    s.connection.value = 'live';
    s.trouble.value = '';
  });
  socket.addEventListener('message', (event: MessageEvent<string>) => {
    take(JSON.parse(event.data) as LiveMessage);
  });
  socket.addEventListener('close', () => {
    retry();
  });
}

function take(message: LiveMessage): void {
  if (message.type === 'steps') {
    if (message.uid === s.uid.value) onMoreSteps(message.total);
    return;
  }
  if (message.type === 'node') {
    s.node.value = message.node;
    return;
  }
  if (message.type === 'machines') {
    const news = message.machines.map((machine) => [machine.uid, machine] as const);
    s.machines.value = new Map([...s.machines.value, ...news]);
    return;
  }
  if (message.type === 'lost') for (const uid of message.uids) told.set(uid, null);
  else for (const pod of message.pods) told.set(pod.uid, pod);
  flushing ||= window.setTimeout(flush, FLUSH_MS);
}

function flush(): void {
  flushing = 0;
  const news = told;
  told = new Map();
  batch(() => {
    s.pods.value = mergePods(s.pods.value, news);
    onMoreSteps(s.pod.value?.steps ?? 0);
  });
}

// Whoever follows the newest step sees its details as they come.
effect(() => {
  if (s.following.value && s.total.value > 0) loadDetail();
});

window.setInterval(() => {
  if (s.about.value?.mode === 'live' || s.connection.value === 'lost') s.now.value = Date.now();
}, 1000);
