import { counter, gauge, histogram } from './metric-spec.ts';

/** What no kubelet has: the actor system's own metrics. */
export const actorletMetrics = {
  podState: gauge('actorlet_pod_state', 'Pod machines in each state, as dotted path.', ['state']),
  shardMessages: counter('actorlet_shard_messages_total', 'Messages that each shard has handled.', ['shard']),
  shardRestarts: counter('actorlet_shard_restarts_total', 'Times that a shard died or hung and was started again.', [
    'shard',
  ]),
  shardHeartbeat: gauge(
    'actorlet_shard_heartbeat_seconds',
    'When each shard last gave a sign of life, in seconds since the epoch.',
    ['shard'],
  ),
  journalBytes: counter('actorlet_journal_bytes_total', 'Bytes written to the journal, before compression.'),
  sharedPulls: counter(
    'actorlet_image_pulls_shared_total',
    'Images that containers (and image volumes) got by a pull that another had asked for.',
  ),
  effectDuration: histogram('actorlet_effect_duration_seconds', 'Time from an effect to its outcome.', ['effect']),
  observationsDropped: counter(
    'actorlet_observations_dropped_total',
    'Observations of workers that fit no metric; more than 0 is a fault of the agent.',
  ),
};
