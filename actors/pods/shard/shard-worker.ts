import type { Logger } from 'pino';
import { createCriClient } from '../../../cri/client/cri-client.ts';
import { detectCgroups } from '../../host/cgroups/cgroup-detect.ts';
import { ownThread } from '../../host/kernel/thread-cpu.ts';
import { patientDisk } from '../../record/journal/log-disk.ts';
import { lossCounter } from '../../record/journal/losses.ts';
import { journalsClosed } from '../../record/journal/segment-log.ts';
import { createLogger } from '../../record/logging/create-logger.ts';
import type { Observation } from '../../record/metrics/observation.ts';
import type { Spans, TracingOptions } from '../../record/tracing/spans.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import { askMain } from './ask-main.ts';
import { effectRunner } from './effect-runner.ts';
import { callHooks } from './call-hooks.ts';
import { effectObservations } from './effect-observations.ts';
import { MountedVolumes } from './mounted-volumes.ts';
import { RoundSpans } from './round-spans.ts';
import { Shard } from './shard.ts';
import type { FromShard, ShardTask, ToShard } from './shard-protocol.ts';
import { WorkMarks, following } from './work-marks.ts';

/** How often the heartbeat is raised and readings are sent, ms. */
const BEAT_MS = 500;
const METRICS_MS = 1_000;
/** How long a worker watches closely whose predecessor died nobody knows of what, ms. */
const CAREFUL_MS = 60_000;

/** Loads this module ahead of the first task. */
export function warm(): void {
  // Nothing to do: importing the module was the work.
}

/** Its libraries are loaded by those who trace only. */
async function spansOf(tracing: TracingOptions, log: Logger): Promise<Spans> {
  const { openSpans } = await import('../../record/tracing/open-spans.ts');
  return openSpans(tracing, log);
}

/**
 * One long-running piscina task: a shard with its own CRI channel. It ends when main says `stop`; main ends the
 * whole worker when the heartbeat stands still.
 */
export default async function runShard(task: ShardTask): Promise<void> {
  const { port } = task;
  const logOptions = { ...task.log, name: `shard-${task.shard}` };
  const log = createLogger(logOptions);
  const spans = task.tracing === undefined ? null : await spansOf(task.tracing, log);
  const roundSpans = spans === null ? null : new RoundSpans(spans);
  const send = (message: FromShard): void => port.postMessage(message);
  let batch: Observation[] = [];
  const mounted = new MountedVolumes();
  const cri = createCriClient({
    endpoint: task.endpoint,
    imageEndpoint: task.imageEndpoint,
    timeoutMs: task.settings.runtimeRequestTimeoutMs,
    hooks: callHooks(log, spans, (readings) => batch.push(...readings)),
  });
  const asker = askMain(send);
  const carryOut = effectRunner({
    cri,
    host: {
      rootDir: task.settings.rootDir,
      podLogsDir: task.settings.podLogsDir,
      containerLogsDir: task.containerLogsDir,
      cgroupVersion: task.settings.cgroupVersion,
      cgroupDriver: task.settings.cgroupDriver,
      cgroups: detectCgroups(),
      ...(task.settings.cluster === true && { ask: asker.ask }),
      askNode: asker.ask,
      log,
      onVolume: (report) => batch.push(...mounted.take(report)),
    },
    now: Date.now,
    mayUseImage: (params) => asker.ask('image.MayUse', params),
    devicesOf: (params) => asker.ask('devices.Get', params),
    userNamespaceOf: (params) => asker.ask('userns.Get', params),
    onDone: (effect, seconds, error) => batch.push(...effectObservations.effect(effect, seconds, error)),
  });
  const run =
    roundSpans === null
      ? carryOut
      : (effect: Effect, uid: string) => roundSpans.run(effect, uid, () => carryOut(effect, uid));
  const marks = new WorkMarks(task.marks);
  const followed = task.careful ? marks.followAwaits() : () => undefined;
  const calm = setTimeout(followed, CAREFUL_MS);
  const shard = new Shard({
    settings: task.settings,
    journal:
      task.journal === null
        ? null
        : { ...task.journal, shard: task.shard, settings: task.settings, log, disk: patientDisk },
    log,
    now: Date.now,
    send,
    // What is opened meanwhile and kept would keep the pod's name as well: only while that is worth it.
    run: task.careful ? (effect, uid) => following(uid, () => run(effect, uid)) : run,
    marks,
    ...(roundSpans !== null && { spans: roundSpans }),
    observe: (readings) => {
      if (readings.length > 0) batch.push(...readings);
    },
  });
  const beating = setInterval(() => marks.beat(), BEAT_MS);
  let handled = 0;
  let journaled = 0;
  const newLosses = lossCounter();
  const reporting = setInterval(() => {
    const label = { shard: String(task.shard) };
    if (shard.handled > handled)
      batch.push({ name: 'actorlet_shard_messages_total', labels: label, value: shard.handled - handled, op: 'inc' });
    if (shard.journalBytes > journaled)
      batch.push({
        name: 'actorlet_journal_bytes_total',
        labels: {},
        value: shard.journalBytes - journaled,
        op: 'inc',
      });
    newLosses((lines, stalls) => {
      batch.push({ name: 'actorlet_journal_lost_lines_total', labels: {}, value: lines, op: 'inc' });
      batch.push({ name: 'actorlet_journal_stalls_total', labels: {}, value: stalls, op: 'inc' });
    });
    handled = shard.handled;
    journaled = shard.journalBytes;
    const volumes = mounted.news();
    if (volumes !== null) send({ t: 'volumes', mounted: volumes });
    if (batch.length === 0) return;
    send({ t: 'metrics', batch });
    batch = [];
  }, METRICS_MS);

  return new Promise((resolve) => {
    port.on('message', (message: ToShard) => {
      switch (message.t) {
        case 'pod':
          shard.post(message.uid, message.message);
          break;
        case 'result': {
          const { uid, key, effect, result, error } = message;
          const base = { at: Date.now(), effect, key };
          if (error !== undefined) shard.post(uid, { type: 'effect.failed', ...base, error });
          else if (result !== undefined) shard.post(uid, { type: 'effect.done', ...base, result });
          break;
        }
        case 'answer':
          asker.answered(message);
          break;
        case 'verbosity':
          logOptions.verbosity = message.level;
          break;
        case 'stop':
          clearInterval(beating);
          clearTimeout(calm);
          followed();
          clearInterval(reporting);
          shard.close();
          cri.close();
          port.close();
          void Promise.all([journalsClosed(), spans?.stop()]).then(() => {
            log.flush();
            resolve();
          });
          break;
      }
    });
    // Those of a worker that this one replaces are set up again, and counted again.
    send({ t: 'volumes', mounted: {} });
    send({ t: 'ready', thread: ownThread() });
  });
}
