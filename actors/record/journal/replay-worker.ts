import { parentPort, workerData } from 'node:worker_threads';
import type { ActorletError } from '../../../machines/errors/define.ts';
import type { Difference } from './difference.ts';
import { whoseOf } from './difference.ts';
import { ChunkLines } from './journal-reader.ts';
import type { Found, FromPart, PartTask, ToPart } from './parallel-protocol.ts';
import { BatchReplay, Replayer } from './replay.ts';

const port = parentPort;
if (port === null) throw new Error('a part of a replay runs in a worker thread');
const { files, part, goOn } = workerData as PartTask;
const send = (message: FromPart) => port.postMessage(message);

const lines = new ChunkLines(files);
const differences = new Map<string, Found<Difference>>();
const damages: Found<string>[] = [];
const unknownKinds = new Set<string>();
let index = 0;
let given = false;

/** The whole is replayed in one thread instead. */
function giveUp(): void {
  if (!given) send({ t: 'giveUp' });
  given = true;
}

function onDifference(difference: Difference): boolean {
  // Others may be far ahead: what they have counted is not what came before the difference.
  if (!goOn) giveUp();
  else if (!differences.has(whoseOf(difference)))
    differences.set(whoseOf(difference), { index, line: difference.line, what: difference });
  return goOn;
}

function onDamage(damage: ActorletError): void {
  damages.push({ index, line: Number(damage.params['line'] ?? 0), what: damage.message });
}

// What follows a damaged line in its file is left out, also by those who do not see the damage.
const replay = new BatchReplay(new Replayer({ part, onDamage, onUnknownKind: (kind) => void unknownKinds.add(kind) }), {
  onDifference,
  onDamage,
  onLeftOut: giveUp,
});

port.on('message', (message: ToPart) => {
  if (given) return;
  if (message.t === 'end') {
    const { messages, pods, unanswered, machines } = replay.result();
    const result = {
      messages,
      pods,
      unanswered,
      machines,
      differences: [...differences.values()],
      damages,
      unknownKinds: [...unknownKinds],
    };
    send({ t: 'result', result });
    port.close();
    return;
  }
  try {
    index = message.index;
    replay.take(lines.take(index, Buffer.from(message.bytes, 0, message.length)));
    send({ t: 'read' });
  } catch {
    // Whatever it was, it is said by the replay in one thread.
    giveUp();
  }
});
