import type { Node } from '../node-object/node-types.ts';
import type { Container, Pod, PodStatus } from '../protocol/api-types.ts';

/** Annotations by which admission goes: where a pod is from, and (by their beginning) what confines its containers. */
const ANNOTATIONS =
  /^(kubernetes\.io\/config\.(source|mirror)|container\.apparmor\.security\.beta\.kubernetes\.io\/.*)$/;
const CONDITIONS = ['PodResizePending', 'PodResizeInProgress'];

/**
 * A pod with nothing but what decides whether the node takes it and what is set aside for it: no images, commands or values
 * of variables. All that is asked of the whole pod in `machines/admission` and `machines/resize` gives the same of its claim.
 */
export function claimOf({ metadata, spec, status }: Pod): Pod {
  const annotations = Object.entries(metadata?.annotations ?? {}).filter(([key]) => ANNOTATIONS.test(key));
  const os = metadata?.labels?.[OS];
  const claim = {
    metadata: {
      ...some(metadata, ['uid', 'namespace', 'name', 'generation']),
      ...(os !== undefined && { labels: { [OS]: os } }),
      ...(annotations.length > 0 && { annotations: Object.fromEntries(annotations) }),
    },
    ...(spec && { spec: specClaim(spec) }),
    ...(status && { status: { ...some(status, ['phase', 'qosClass']), ...statusClaim(status) } }),
  };
  return claim as Pod;
}

/** What of a pod's status says how much it holds: resources of containers, and how its resize stands. */
export function statusClaim(status: PodStatus): PodStatus {
  const conditions = status.conditions?.filter(({ type }) => CONDITIONS.includes(type)) ?? [];
  return {
    ...(conditions.length > 0 && { conditions }),
    ...some(status, ['resources', 'allocatedResources']),
    ...held('containerStatuses', status),
    ...held('initContainerStatuses', status),
  };
}

/** What admission looks at of the own Node ({@link nodeView}). Its object changes with each of its lives' signs, this hardly ever. */
export function nodeClaim({ metadata, spec, status }: Node): Node {
  const taints = spec?.taints?.map((taint) => some(taint, ['key', 'value', 'effect']));
  const policy = status?.features?.supplementalGroupsPolicy;
  const claim = {
    metadata: some(metadata, ['name', 'labels']),
    ...(taints !== undefined && taints.length > 0 && { spec: { taints } }),
    ...(status && {
      status: {
        ...some(status, ['allocatable']),
        ...(policy !== undefined && { features: { supplementalGroupsPolicy: policy } }),
      },
    }),
  };
  return claim as Node;
}

const OS = 'kubernetes.io/os';
type Spec = NonNullable<Pod['spec']>;

function specClaim(spec: Spec): Partial<Spec> {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const security = spec.securityContext;
  const sysctls = security?.sysctls?.map(({ name }) => ({ name, value: '' })) ?? [];
  const securityContext = {
    ...some(security, ['supplementalGroupsPolicy', 'appArmorProfile']),
    ...(sysctls.length > 0 && { sysctls }),
  };
  const { containers, initContainers, ephemeralContainers } = spec;
  return {
    ...some(spec, [
      'nodeName',
      'nodeSelector',
      'tolerations',
      'os',
      'priority',
      'priorityClassName',
      'terminationGracePeriodSeconds',
    ]),
    ...some(spec, ['hostNetwork', 'hostIPC', 'resources', 'overhead']),
    ...(required && {
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
    }),
    ...(Object.keys(securityContext).length > 0 && { securityContext }),
    ...((containers as Spec['containers'] | undefined) && { containers: containers.map(containerClaim) }),
    ...(initContainers && { initContainers: initContainers.map(containerClaim) }),
    ...(ephemeralContainers && {
      ephemeralContainers: ephemeralContainers.map((each) =>
        containerClaim(each as Container),
      ) as typeof ephemeralContainers,
    }),
  };
}

function containerClaim(container: Container): Container {
  const profile = container.securityContext?.appArmorProfile;
  const ports = container.ports?.filter(({ hostPort }) => hostPort) ?? [];
  // Only this action asks something of the node.
  const rules = container.restartPolicyRules?.filter(({ action }) => action === 'RestartAllContainers') ?? [];
  // And of these only who is restarted for other memory, where swap is limited.
  const policies = container.resizePolicy?.filter(({ resourceName }) => resourceName === 'memory') ?? [];
  return {
    ...some(container, ['name', 'resources', 'restartPolicy']),
    ...(policies.some(({ restartPolicy }) => restartPolicy === 'RestartContainer') && { resizePolicy: policies }),
    ...(rules.length > 0 && { restartPolicyRules: rules.map(({ action }) => ({ action })) }),
    ...(profile && { securityContext: { appArmorProfile: profile } }),
    ...(ports.length > 0 && {
      ports: ports.map((port) => some(port, ['containerPort', 'hostIP', 'hostPort', 'protocol'])),
    }),
  } as Container;
}

/** Statuses of containers that say something of resources. */
function held(list: 'containerStatuses' | 'initContainerStatuses', status: PodStatus): Partial<PodStatus> {
  const states = status[list]?.filter(({ resources, allocatedResources }) => resources ?? allocatedResources) ?? [];
  if (states.length === 0) return {};
  return { [list]: states.map((state) => some(state, ['name', 'resources', 'allocatedResources'])) };
}

/** These fields, as far as they are there. */
function some<T extends object, K extends keyof T>(from: T | undefined, keys: readonly K[]): Partial<Pick<T, K>> {
  const out: Partial<Pick<T, K>> = {};
  for (const key of keys) if (from?.[key] !== undefined) out[key] = from[key];
  return out;
}
