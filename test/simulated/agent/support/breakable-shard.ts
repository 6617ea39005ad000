import type { MessagePort } from 'node:worker_threads';
import runShard from '../../../../actors/pods/shard/shard-worker.ts';
import type { ShardTask } from '../../../../actors/pods/shard/shard-protocol.ts';
import type { Break } from './break-shard.ts';

export { warm } from '../../../../actors/pods/shard/shard-worker.ts';

/** A shard as it ships, which also does what `breakShard` asks for: what is a fault of the code or of the machine elsewhere. */
export default function runBreakableShard(task: ShardTask): Promise<void> {
  (task.port as MessagePort).on('message', (message: Break | { t: '' }) => {
    if (message.t !== 'break') return;
    if (message.how === 'loop') for (;;);
    process.exit(1);
  });
  return runShard(task);
}
