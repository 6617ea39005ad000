import { Container, PodSandbox } from '../../../cri/generated/runtime/v1/api.ts';
import type { MessageFns } from '../../../cri/generated/runtime/v1/api.ts';
import { RecordLists } from '../../../cri/sim/record-lists.ts';
import type { ListForm } from '../../../cri/sim/record-lists.ts';
import type { SimCore } from '../../../cri/sim/sim-core.ts';

/**
 * Answers to ListContainers and ListPodSandbox as a client decodes them. Each record goes over the wire (protobuf and back)
 * once for each change of it, and the whole list is kept while nothing changes.
 */
export function runtimeLists(core: SimCore): RecordLists {
  return new RecordLists(core, { container: overTheWire(Container), sandbox: overTheWire(PodSandbox) });
}

function overTheWire<T>(codec: MessageFns<T>): ListForm<T> {
  return (listed) => {
    const wire = codec.encode(listed).finish();
    return { wire, item: codec.decode(wire) };
  };
}
