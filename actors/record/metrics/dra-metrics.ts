import { gauge, histogram } from './metric-spec.ts';

/** ExponentialBucketsRange(0.1, 40, 15), seconds: a driver has 45 s for a call. */
const BUCKETS = Array.from({ length: 15 }, (_, at) => 0.1 * (40 / 0.1) ** (at / 14));

/** What kubelet tells of dynamic resource allocation (KEP-4381). */
export const draMetrics = {
  draOperations: histogram(
    'dra_operations_duration_seconds',
    'Time in which all ResourceClaims of a pod were prepared or given back, in seconds; is_error: whether that failed.',
    ['operation_name', 'is_error'],
    BUCKETS,
  ),
  draCalls: histogram(
    'dra_grpc_operations_duration_seconds',
    'Time that a call to a driver of dynamic resources took, in seconds.',
    ['driver_name', 'method_name', 'grpc_status_code'],
    BUCKETS,
  ),
  draClaims: gauge(
    'dra_resource_claims_in_use',
    'ResourceClaims that are prepared, by driver; <any>: all of them, each once.',
    ['driver_name'],
  ),
};
