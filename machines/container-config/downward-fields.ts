import type { Pod } from '../protocol/api-types.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { sortPodIPs } from '../sandbox-config/pod-ips.ts';
import { goQuote } from '../values/go-quote.ts';

/** A field's value, or why it has none. */
export type FieldValue = { value: string } | { fault: string };

const KNOWN = new Set([
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.restartPolicy',
  'spec.serviceAccountName',
  'spec.schedulerName',
  'status.phase',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);
const NAME_PART = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const NAME_RULE =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/** `fieldRef` of an env variable: metadata, `spec.nodeName`, `spec.serviceAccountName`, host and pod addresses. */
export function envFieldValue(
  ref: { apiVersion?: string; fieldPath: string },
  pod: Pod,
  podIPs: readonly string[],
  settings: Pick<NodeSettings, 'givenIPs' | 'nodeIPs' | 'nodeName'>,
): FieldValue {
  const version = ref.apiVersion ?? 'v1';
  if (version !== 'v1') return { fault: `unsupported pod version: ${version}` };
  const path = ref.fieldPath === 'spec.host' ? 'spec.nodeName' : ref.fieldPath;
  const parts = splitSubscript(path);
  if (parts) {
    if (parts.field !== 'metadata.annotations' && parts.field !== 'metadata.labels') {
      return { fault: `field label does not support subscript: ${path}` };
    }
  } else if (!KNOWN.has(path)) return { fault: `field label not supported: ${path}` };
  const ips = sortPodIPs(podIPs, settings.givenIPs ?? settings.nodeIPs);
  switch (path) {
    case 'spec.nodeName':
      return { value: pod.spec?.nodeName ?? settings.nodeName };
    case 'spec.serviceAccountName':
      return { value: pod.spec?.serviceAccountName ?? '' };
    case 'status.hostIP':
    case 'status.hostIPs': {
      const hostIPs = settings.nodeIPs.slice(0, path === 'status.hostIP' ? 1 : 2);
      // Its object names the node then, and no address of it.
      if (hostIPs.length === 0) return { fault: `host IP unknown; known addresses: [{Hostname ${settings.nodeName}}]` };
      return { value: hostIPs.join(',') };
    }
    case 'status.podIP':
      return { value: ips[0] ?? '' };
    case 'status.podIPs':
      return { value: ips.join(',') };
    default:
      return metadataFieldValue(path, pod);
  }
}

/** A metadata field: what a downward API volume may name. Maps come sorted, one `key="value"` a line. */
export function metadataFieldValue(path: string, pod: Pod): FieldValue {
  const { name = '', namespace = '', uid = '', labels = {}, annotations = {} } = pod.metadata ?? {};
  const parts = splitSubscript(path);
  if (parts) {
    const { field, key } = parts;
    if (field !== 'metadata.annotations' && field !== 'metadata.labels') {
      return { fault: `fieldPath "${path}" does not support subscript` };
    }
    const fault = qualifiedNameFault(field === 'metadata.annotations' ? key.toLowerCase() : key);
    if (fault) return { fault: `invalid key subscript in ${path}: ${fault}` };
    const map = field === 'metadata.annotations' ? annotations : labels;
    return { value: Object.hasOwn(map, key) ? (map[key] ?? '') : '' };
  }
  switch (path) {
    case 'metadata.annotations':
      return { value: formatMap(annotations) };
    case 'metadata.labels':
      return { value: formatMap(labels) };
    case 'metadata.name':
      return { value: name };
    case 'metadata.namespace':
      return { value: namespace };
    case 'metadata.uid':
      return { value: uid };
    default:
      return { fault: `unsupported fieldPath: ${path}` };
  }
}

/** `metadata.labels['key']` -> field and key (kubelet's `SplitMaybeSubscriptedPath`); undefined without a subscript. */
export function splitSubscript(path: string): { field: string; key: string } | undefined {
  const open = path.indexOf("['");
  if (!path.endsWith("']") || open <= 0 || open + 2 > path.length - 2) return undefined;
  return { field: path.slice(0, open), key: path.slice(open + 2, -2) };
}

function formatMap(map: Record<string, string>): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${goQuote(map[key] ?? '')}`)
    .join('\n');
}

function qualifiedNameFault(key: string): string {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2)
    return `a valid label must be an an empty string or consist of alphanumeric characters, '-', '_' or '.'`;
  const faults: string[] = [];
  if (parts.length === 2 && !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(parts[0] ?? '')) {
    faults.push(
      "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.'",
    );
  }
  if (name === '') faults.push('name part must be non-empty');
  if (name.length > 63) faults.push('name part must be no more than 63 bytes');
  if (!NAME_PART.test(name)) faults.push(NAME_RULE);
  return faults.join(';');
}
