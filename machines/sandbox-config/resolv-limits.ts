import { MAX_SEARCH_CHARACTERS, MAX_SEARCH_LENGTH, MAX_SEARCHES } from './dns.ts';

/** Names that the search list of a pod with ClusterFirst begins with. */
const CLUSTER_SEARCHES = 3;

/**
 * What of the node's own search list pods will not get, in the words of event `CheckLimitsForResolvConf`; null: nothing.
 *
 * @param path of the resolver file
 */
export function resolverOverLimit(path: string, searches: readonly string[], clusterDomain: string): string | null {
  const most = MAX_SEARCHES - (clusterDomain === '' ? 0 : CLUSTER_SEARCHES);
  if (searches.length > most)
    return `Resolv.conf file '${path}' contains search line consisting of more than ${most} domains!`;
  if (searches.some((name) => name.length > MAX_SEARCH_LENGTH))
    return `Resolv.conf file ${JSON.stringify(path)} contains a search path which length is more than allowed ${MAX_SEARCH_LENGTH} chars!`;
  if (searches.join(' ').length > MAX_SEARCH_CHARACTERS)
    return `Resolv.conf file '${path}' contains search line which length is more than allowed ${MAX_SEARCH_CHARACTERS} chars!`;
  return null;
}
