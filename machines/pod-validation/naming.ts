import type { Pod } from '../protocol/api-types.ts';
import { dnsLabel, dnsSearch, dnsSubdomain, isIp, labelValue, named, qualifiedName } from './names.ts';
import { forbidden, invalid, notSupported, type Problems, required, tooLong } from './problem.ts';

type Spec = NonNullable<Pod['spec']>;

const IP_RULE = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
/** Sum of the lengths of all annotations, in characters. */
const MAX_ANNOTATIONS = 256 * 1024;

/** `metadata`. */
export function* metadata(pod: Pod): Problems {
  const meta = pod.metadata ?? {};
  if (!meta.name) yield required('metadata.name', 'name or generateName is required');
  else yield* named('metadata.name', meta.name, dnsSubdomain);
  if (!meta.namespace) yield required('metadata.namespace');
  else yield* named('metadata.namespace', meta.namespace, dnsLabel);
  for (const [key, value] of Object.entries(meta.labels ?? {})) {
    yield* named('metadata.labels', key, qualifiedName);
    yield* named('metadata.labels', value, labelValue);
  }
  let size = 0;
  for (const [key, value] of Object.entries(meta.annotations ?? {})) {
    yield* named('metadata.annotations', key.toLowerCase(), qualifiedName);
    size += key.length + value.length;
  }
  if (size > MAX_ANNOTATIONS) yield tooLong('metadata.annotations', MAX_ANNOTATIONS);
}

function* dnsConfig(spec: Spec): Problems {
  const config = spec.dnsConfig;
  if (spec.dnsPolicy === 'None') {
    if (!config) return void (yield required('spec.dnsConfig', 'must provide `dnsConfig` when `dnsPolicy` is None'));
    if (!config.nameservers?.length) {
      const rule = 'must provide at least one DNS nameserver when `dnsPolicy` is None';
      return void (yield required('spec.dnsConfig.nameservers', rule));
    }
  }
  const { nameservers = [], searches = [], options = [] } = config ?? {};
  const at = 'spec.dnsConfig';
  if (nameservers.length > 3) yield invalid(`${at}.nameservers`, nameservers, 'must not have more than 3 nameservers');
  for (const [i, ip] of nameservers.entries()) if (!isIp(ip)) yield invalid(`${at}.nameservers[${i}]`, ip, IP_RULE);
  if (searches.length > 32) yield invalid(`${at}.searches`, searches, 'must not have more than 32 search paths');
  if (searches.join(' ').length > 2048) {
    yield invalid(
      `${at}.searches`,
      searches,
      'must not have more than 2048 characters (including spaces) in the search list',
    );
  }
  for (const [i, search] of searches.entries()) {
    if (search !== '.') yield* named(`${at}.searches[${i}]`, search.replace(/\.$/, ''), dnsSearch);
  }
  for (const [i, option] of options.entries())
    if (!option.name) yield required(`${at}.options[${i}]`, 'must not be empty');
}

/** Names by which a pod and its network are known: host names, DNS, aliases, references to other objects. */
export function* podNames(spec: Spec): Problems {
  const policies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
  if (!policies.includes(spec.dnsPolicy ?? '')) yield notSupported('spec.dnsPolicy', spec.dnsPolicy ?? '', policies);
  yield* dnsConfig(spec);
  if (spec.hostname) yield* named('spec.hostname', spec.hostname, dnsLabel);
  if (spec.subdomain) yield* named('spec.subdomain', spec.subdomain, dnsLabel);
  const override = spec.hostnameOverride;
  if (override !== undefined) {
    const field = 'spec.hostnameOverride';
    if (spec.setHostnameAsFQDN) yield forbidden(field, 'may not be specified when setHostnameAsFQDN is true');
    if (spec.hostNetwork) yield forbidden(field, 'may not be specified when hostNetwork is true');
    if (override.length > 64) yield tooLong(field, 64);
    yield* named(field, override, dnsSubdomain);
  }
  for (const [i, alias] of (spec.hostAliases ?? []).entries()) {
    if (!isIp(alias.ip ?? '')) yield invalid(`spec.hostAliases[${i}].ip`, alias.ip ?? '', IP_RULE);
    for (const [k, name] of (alias.hostnames ?? []).entries()) {
      yield* named(`spec.hostAliases[${i}].hostnames[${k}]`, name, dnsSubdomain);
    }
  }
  for (const name of ['serviceAccountName', 'nodeName', 'priorityClassName', 'runtimeClassName'] as const) {
    const value = spec[name];
    if (value) yield* named(`spec.${name}`, value, dnsSubdomain);
  }
}
