import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { MessagePort } from 'node:worker_threads';
import type { Pod } from '../../../../machines/protocol/api-types.ts';
import runShard from '../../../../actors/pods/shard/shard-worker.ts';
import type { ShardTask, ToShard } from '../../../../actors/pods/shard/shard-protocol.ts';
import type { Break } from './break-shard.ts';

export { warm } from '../../../../actors/pods/shard/shard-worker.ts';

/** On a pod: what its worker does when it comes to it: loops in a step of its machine, or ends in the middle of an effect. */
const POISON = 'test/poison';
/** UIDs of pods in whose effects the worker ends. */
const poisoned = new Set<string>();

/** A shard as it ships, which also does what `breakShard` asks for: what is a fault of the code or of the machine elsewhere. */
export default function runBreakableShard(task: ShardTask): Promise<void> {
  (task.port as MessagePort).on('message', (message: Break | ToShard) => {
    if (message.t === 'pod' && 'pod' in message.message) poison(message.message.pod);
    if (message.t !== 'break') return;
    if (message.how === 'loop') for (;;);
    process.exit(1);
  });
  return runShard(task);
}

/** The shard's own listener is given the same object afterwards. */
function poison({ metadata, spec }: Pod): void {
  const how = metadata?.annotations?.[POISON];
  if (how === 'effect') poisoned.add(metadata?.uid ?? '');
  else poisoned.delete(metadata?.uid ?? '');
  if (how === 'step' && spec !== undefined)
    Object.defineProperty(spec, 'containers', {
      enumerable: true,
      get: () => {
        for (;;);
      },
    });
}

const { mkdir } = fs.promises;
fs.promises.mkdir = async function poisonedMkdir(...args: Parameters<typeof mkdir>) {
  const made = await mkdir(...args);
  for (const uid of poisoned) if (uid !== '' && String(args[0]).includes(uid)) process.exit(1);
  return made;
} as typeof mkdir;
syncBuiltinESMExports();
