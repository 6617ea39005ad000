import type { Pod } from '../protocol/api-types.ts';
import { withoutEnd } from '../values/trim.ts';
import { podIdentity } from './pod-identity.ts';

const HOSTNAME_MAX = 63;
const FQDN_MAX = 64;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_RULE =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SUBDOMAIN_RULE =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

/** Host name and, with `spec.subdomain`, the domain below the cluster's; or why there is none. */
export type PodHostname = { hostname: string; domain: string } | { error: string };

/** Short host name and domain of a pod (the kubelet's GeneratePodHostNameAndDomain), cut at 63 characters. */
export function podHostname(pod: Pod, clusterDomain: string): PodHostname {
  const { name, namespace } = podIdentity(pod);
  const { hostname, hostnameOverride, subdomain } = pod.spec ?? {};
  if (hostnameOverride !== undefined) {
    const broken = breaks(hostnameOverride, SUBDOMAIN, 253, SUBDOMAIN_RULE);
    if (broken) return { error: `pod HostnameOverride "${hostnameOverride}" is not a valid DNS subdomain: ${broken}` };
    return withDomain(name, hostnameOverride, '');
  }
  if (hostname) {
    const broken = breaks(hostname, LABEL, 63, LABEL_RULE);
    if (broken) return { error: `pod Hostname "${hostname}" is not a valid DNS label: ${broken}` };
  }
  if (!subdomain) return withDomain(name, hostname || name, '');
  const broken = breaks(subdomain, LABEL, 63, LABEL_RULE);
  if (broken) return { error: `pod Subdomain "${subdomain}" is not a valid DNS label: ${broken}` };
  return withDomain(name, hostname || name, `${subdomain}.${namespace}.svc.${clusterDomain}`);
}

/** The name the sandbox gets: the short one, or the whole FQDN with `setHostnameAsFQDN` (at most 64 characters). */
export function kernelHostname(pod: Pod, clusterDomain: string): { hostname: string } | { error: string } {
  const found = podHostname(pod, clusterDomain);
  if ('error' in found) return found;
  if (!found.domain || !pod.spec?.setHostnameAsFQDN) return { hostname: found.hostname };
  const fqdn = `${found.hostname}.${found.domain}`;
  if (fqdn.length <= FQDN_MAX) return { hostname: fqdn };
  return {
    error: `failed to construct FQDN from pod hostname and cluster domain, FQDN ${fqdn} is too long (${FQDN_MAX} characters is the max, ${fqdn.length} characters requested)`,
  };
}

function withDomain(podName: string, hostname: string, domain: string): PodHostname {
  const cut = hostname.length <= HOSTNAME_MAX ? hostname : withoutEnd(hostname.slice(0, HOSTNAME_MAX), '-.');
  return cut === '' ? { error: `hostname for pod "${podName}" was invalid: "${hostname}"` } : { hostname: cut, domain };
}

function breaks(value: string, shape: RegExp, max: number, rule: string): string {
  const faults: string[] = [];
  if (value.length > max) faults.push(`must be no more than ${max} bytes`);
  if (!shape.test(value)) faults.push(rule);
  return faults.join(';');
}
