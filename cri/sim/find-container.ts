import { ContainerState } from '../generated/runtime/v1/api.ts';
import type { ContainerRecord } from './records.ts';
import { notFound, refused } from './rpc-error.ts';
import type { SimCore } from './sim-core.ts';
import { containerStateName } from './status-shapes.ts';

/** The container, or NotFound. */
export function findContainer(core: SimCore, id: string): ContainerRecord {
  const record = core.containers.find(id);
  if (record === undefined) throw notFound('container', id);
  return record;
}

/** The container, or NotFound, or Unknown when it does not run. */
export function findRunning(core: SimCore, id: string): ContainerRecord {
  const record = findContainer(core, id);
  if (record.state !== ContainerState.CONTAINER_RUNNING) {
    throw refused(`container is in ${containerStateName(record.state)} state`);
  }
  return record;
}
