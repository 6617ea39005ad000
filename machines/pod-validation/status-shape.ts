import { fields, list, map, type Shape } from './shape.ts';

const QUANTITIES = map('quantity');
const resources = fields({
  limits: QUANTITIES,
  requests: QUANTITIES,
  claims: list(fields({ name: 'string', request: 'string' })),
});
const containerState = fields({
  waiting: fields({ reason: 'string', message: 'string' }),
  running: fields({ startedAt: 'string' }),
  terminated: fields({
    containerID: 'string',
    exitCode: 'int32',
    signal: 'int32',
    reason: 'string',
    message: 'string',
    startedAt: 'string',
    finishedAt: 'string',
  }),
});
const containerStatus = fields({
  name: 'string',
  state: containerState,
  lastState: containerState,
  ready: 'bool',
  restartCount: 'int32',
  image: 'string',
  imageID: 'string',
  containerID: 'string',
  started: 'bool',
  allocatedResources: QUANTITIES,
  resources,
  stopSignal: 'string',
  volumeMounts: 'any',
  user: 'any',
  allocatedResourcesStatus: 'any',
});

/** `status` of a pod, as the API server has it or a manifest brings it along. */
export const STATUS_SHAPE: Shape = fields({
  observedGeneration: 'int64',
  phase: 'string',
  conditions: list(
    fields({
      type: 'string',
      status: 'string',
      reason: 'string',
      message: 'string',
      lastProbeTime: 'string',
      lastTransitionTime: 'string',
      observedGeneration: 'int64',
    }),
  ),
  message: 'string',
  reason: 'string',
  nominatedNodeName: 'string',
  hostIP: 'string',
  hostIPs: list(fields({ ip: 'string' })),
  podIP: 'string',
  podIPs: list(fields({ ip: 'string' })),
  startTime: 'string',
  initContainerStatuses: list(containerStatus),
  containerStatuses: list(containerStatus),
  ephemeralContainerStatuses: list(containerStatus),
  qosClass: 'string',
  resize: 'string',
  resourceClaimStatuses: 'any',
  extendedResourceClaimStatus: 'any',
  allocatedResources: QUANTITIES,
  resources,
});
