import { z } from 'zod';
import { duration, int32, oneOf, resourceList, textMap } from '../field-kinds.ts';

/** CPU, memory and topology manager. */
export const resourceManagerFields = {
  cpuManagerPolicy: oneOf(['none', 'static'], 'none'),
  cpuManagerPolicyOptions: textMap(),
  cpuManagerReconcilePeriod: duration(10_000),
  memoryManagerPolicy: oneOf(['None', 'Static'], 'None'),
  reservedMemory: z
    .array(
      z.strictObject(
        { numaNode: int32(0), limits: resourceList().default({}) },
        { error: 'a reservation: numaNode, limits' },
      ),
      { error: 'a list of reservations' },
    )
    .default([]),
  topologyManagerPolicy: oneOf(['none', 'best-effort', 'restricted', 'single-numa-node'], 'none'),
  topologyManagerScope: oneOf(['container', 'pod'], 'container'),
  topologyManagerPolicyOptions: textMap(),
  qosReserved: textMap(),
};
