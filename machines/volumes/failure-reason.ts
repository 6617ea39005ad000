/** What kubelet's mapping of a block volume says when it fails, where it tells of that as such. */
const MAPPING = /^MapVolume(?:\.(?!NodeAffinity check|FindMapperPluginBySpec)[A-Za-z]+)? [a-z]/;

/** Reason of the event that says why a volume could not be set up. That the node is the wrong one is told as of a file system (kubelet). */
export function failureReason(message: string): 'FailedMount' | 'FailedMapVolume' {
  return MAPPING.test(message) ? 'FailedMapVolume' : 'FailedMount';
}
