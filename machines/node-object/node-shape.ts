import { lacking } from '../pod-validation/lacking.ts';
import { META_SHAPE } from '../pod-validation/pod-shape.ts';
import { problemText } from '../pod-validation/problem.ts';
import { fields, list, map, type Shape, shapeProblem } from '../pod-validation/shape.ts';

const QUANTITIES = map('quantity');

/** What of a `v1.Node` is read. */
const NODE_SHAPE: Shape = fields({
  metadata: META_SHAPE,
  spec: fields({
    podCIDR: 'string',
    podCIDRs: list('string'),
    providerID: 'string',
    unschedulable: 'bool',
    taints: list(fields({ key: 'string', value: 'string', effect: 'string', timeAdded: 'string' })),
  }),
  status: fields({
    capacity: QUANTITIES,
    allocatable: QUANTITIES,
    phase: 'string',
    conditions: list(
      fields({
        type: 'string',
        status: 'string',
        reason: 'string',
        message: 'string',
        lastHeartbeatTime: 'string',
        lastTransitionTime: 'string',
      }),
    ),
    addresses: list(fields({ type: 'string', address: 'string' })),
    daemonEndpoints: fields({ kubeletEndpoint: fields({ Port: 'int32' }) }),
    images: list(fields({ names: list('string'), sizeBytes: 'int64' })),
    volumesInUse: list('string'),
    volumesAttached: list(fields({ name: 'string', devicePath: 'string' })),
  }),
});

/** Why a node object cannot be used: fields of the wrong type, or incomplete ones; undefined when it can. */
export function nodeProblem(node: unknown): string | undefined {
  return shapeProblem(node, NODE_SHAPE) ?? [...lacking(node)].map(problemText)[0];
}
