import { gauge, histogram } from './metric-spec.ts';

/** ExponentialBucketsRange(0.1, 40, 15) as Go counts, seconds: a driver has 45 s for a call. */
const BUCKETS = [
  0.1, 0.1534127404634391, 0.23535468936502524, 0.36106407876409946, 0.5539182980610752, 0.849781240983936,
  1.303672689737678, 1.9999999999999993, 3.0682548092687805, 4.7070937873005025, 7.221281575281985, 11.078365961221499,
  16.995624819678714, 26.07345379475354, 39.99999999999997,
];

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
