import { isLabelValue, isQualifiedName } from '../../actors/configure/configuration/kubernetes-names.ts';
import { configErrors } from '../../machines/errors/config-errors.ts';
import { ActorletError } from '../../machines/errors/define.ts';

/** Labels of the reserved domains that a node may give itself (k8s.io/kubelet/pkg/apis). */
const OWN_LABELS = [
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
];
const OWN_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io'];
const RESERVED = ['kubernetes.io', 'k8s.io'];

/** ValidateKubeletFlags: the form of each label, and that it is not one which only the cluster may set. */
export function checkNodeLabels(labels: Readonly<Record<string, string>>): ActorletError[] {
  return Object.entries(labels).flatMap(([key, value]) => {
    const reasons: string[] = [];
    if (isReserved(key)) {
      reasons.push(
        `in the 'kubernetes.io' namespace it must begin with ${OWN_DOMAINS.join(' or ')}, or be one of ${OWN_LABELS.join(', ')}`,
      );
    }
    if (!isQualifiedName(key)) reasons.push('its key is no qualified name such as "example.com/name"');
    if (!isLabelValue(value)) reasons.push('its value must be at most 63 letters, digits, "-", "_" or "."');
    const label = `${key}=${value}`;
    return reasons.map((reason) => new ActorletError(configErrors.badNodeLabel, { label, reason }));
  });
}

function isReserved(key: string): boolean {
  const domain = key.includes('/') ? (key.split('/')[0] ?? '') : '';
  const inside = (domains: readonly string[]) => domains.some((own) => domain === own || domain.endsWith(`.${own}`));
  return inside(RESERVED) && !OWN_LABELS.includes(key) && !inside(OWN_DOMAINS);
}
