import type { Logger } from 'pino';
import type { EventRecorder } from '../cluster/events/event-recorder.ts';
import type { PodStore } from '../pods/store/pod-store.ts';
import { tellEach } from '../record/logging/tell-each.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import type { Pleg } from '../runtime/pleg/pleg.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { nodeErrors } from '../../machines/errors/node-errors.ts';
import { nodeNamed } from '../../machines/protocol/recorded-event.ts';
import { trackedPod } from '../../machines/supervisor/pod-table.ts';
import type { PullPlace } from '../../machines/protocol/pull-place.ts';
import { SUPERSEDED } from '../runtime/images/image-puller.ts';
import { answerShard } from '../pods/shard/ask-main.ts';
import { errorOf } from '../pods/shard/effect-runner.ts';
import { withHandler } from '../pods/shard/runtime-class.ts';
import type { FromShard, PodEventReport, PodReport } from '../pods/shard/shard-protocol.ts';
import type { ShardHost } from './edges.ts';
import { answersTo } from './node-answers.ts';
import type { NodeAnswerParts } from './node-answers.ts';
import type { PodIntake } from './pod-intake.ts';
import type { PodMetrics } from './pod-metrics.ts';

/** Pause before a pod whose actor could not start is tried again, ms. */
const START_RETRY_MS = 10_000;

/** Where the messages of shards go. */
export interface FromShardParts extends NodeAnswerParts {
  shards: ShardHost;
  store: PodStore;
  events: EventRecorder;
  pleg: Pleg;
  metrics: Metrics;
  podMetrics: PodMetrics;
  nodeName: string;
  intake: PodIntake;
  log: Logger;
  now: () => number;
}

/** Hands a message of a shard to the part of the node that it is for. Never throws: what one pod tells ends nothing of the others. */
export function handleFromShard(parts: FromShardParts, shard: number, message: FromShard): void {
  tellEach(parts.log, `what shard ${shard} told (${message.t})`, { main: () => handle(parts, shard, message) });
}

function handle(parts: FromShardParts, shard: number, message: FromShard): void {
  const { supervisor, shards, log, now } = parts;
  switch (message.t) {
    case 'report':
      takeReport(parts, message.report);
      break;
    case 'event':
      tellNode(parts, message.event);
      parts.events.record(message.event);
      break;
    case 'observe':
      parts.pleg.observe(message.uid);
      break;
    case 'finished': {
      const { uid } = message;
      tellEach(log, `the end of pod ${uid}`, {
        puller: () => parts.puller.podGone(uid),
        volumes: () => parts.volumes.podGone(uid),
        userNamespaces: () => parts.userNamespaces.release(uid),
        metrics: () => parts.podMetrics.finished(trackedPod(supervisor.context.pods, uid)),
        cluster: () => parts.cluster?.lifeEnded(uid),
        supervisor: () => supervisor.take({ type: 'finished', at: now(), uid }),
        intake: () => parts.intake.gone(uid),
      });
      break;
    }
    case 'metrics':
      parts.metrics.applyObservations(message.batch);
      break;
    case 'volumes':
      parts.podMetrics.mounted(shard, message.mounted);
      break;
    case 'fault':
      log.error(
        { err: new ActorletError(nodeErrors.stepFailed, { pod: message.uid, problem: message.message }) },
        'A pod machine failed',
      );
      if (message.message.startsWith('pod.start:')) {
        const again = () => supervisor.take({ type: 'retryStart', at: now(), uid: message.uid });
        setTimeout(again, START_RETRY_MS).unref();
      }
      break;
    case 'effect':
      void pull(parts, shard, message);
      break;
    case 'ask':
      void answerShard(answersTo(message.what, parts), message, (answer) => shards.post(shard, answer));
      break;
    case 'ready':
      break;
  }
}

/** A pod that should have had the cluster's DNS: that the node knows none is told of the node, too, and first. */
function tellNode({ events, nodeName }: FromShardParts, event: PodEventReport): void {
  if (event.reason !== 'MissingClusterDNS') return;
  const object = nodeNamed(nodeName);
  events.record({
    object,
    at: event.at,
    type: 'Warning',
    reason: event.reason,
    message: event.message.replace(/^pod: "[^"]*"\. /, ''),
  });
}

function takeReport(parts: FromShardParts, report: PodReport): void {
  const { supervisor, store, intake, puller, volumes, cluster, log } = parts;
  const toCluster = (): void => {
    const tracked = trackedPod(supervisor.context.pods, report.uid);
    if (tracked !== undefined && tracked.source !== 'orphan') cluster?.reported(tracked.pod, tracked.source, report);
  };
  tellEach(log, `how pod ${report.uid} stands`, {
    store: () => store.report(report),
    // As kubelet cancels the sync of a pod that is to end; a pod does not come back from there.
    ...(report.state.startsWith('terminat') && {
      puller: () => puller.podGone(report.uid),
      volumes: () => volumes.podEnds(report.uid),
    }),
    intake: () => intake.reported(report),
    cluster: toCluster,
  });
}

async function pull(
  parts: FromShardParts,
  shard: number,
  { uid, key, effect, params }: Extract<FromShard, { t: 'effect' }>,
): Promise<void> {
  const { shards, puller, cluster, now } = parts;
  try {
    cluster?.starts.pullBegan(uid);
    const onTurn = (place: PullPlace | null) =>
      shards.post(shard, { t: 'pod', uid, message: { type: 'pull.turn', at: now(), key, place } });
    const answers = answersTo('runtimeClass.Get', parts) ?? undefined;
    const result = await puller.pull(await withHandler(params, answers), uid, { key, onTurn });
    cluster?.starts.pullEnded(uid);
    shards.post(shard, { t: 'result', uid, key, effect, result });
  } catch (thrown) {
    const error = errorOf(thrown);
    if (error.code !== SUPERSEDED) shards.post(shard, { t: 'result', uid, key, effect, error });
  }
}
