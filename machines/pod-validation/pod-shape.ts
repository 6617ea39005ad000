import { STATUS_SHAPE } from './status-shape.ts';
import { fields, list, map } from './shape.ts';
import type { Shape } from './shape.ts';
import { VOLUME_SHAPE } from './volume-shape.ts';

const requirement = fields({ key: 'string', operator: 'string', values: list('string') });
const nodeTerm = fields({ matchExpressions: list(requirement), matchFields: list(requirement) });
/** Which other pods a pod wants near or far; only the scheduler reads what is in it. */
const podTerms = fields({
  preferredDuringSchedulingIgnoredDuringExecution: 'any',
  requiredDuringSchedulingIgnoredDuringExecution: 'any',
});

/** `spec.affinity`. */
const AFFINITY_SHAPE: Shape = fields({
  nodeAffinity: fields({
    preferredDuringSchedulingIgnoredDuringExecution: list(fields({ weight: 'int32', preference: nodeTerm })),
    requiredDuringSchedulingIgnoredDuringExecution: fields({ nodeSelectorTerms: list(nodeTerm) }),
  }),
  podAffinity: podTerms,
  podAntiAffinity: podTerms,
});

/**
 * The shape of a `v1.Pod` in Kubernetes 1.35. Parts that this agent passes on without a look
 * (affinity, managed fields, status) are `any`.
 */

const STRINGS = list('string');
const STRING_MAP = map('string');
const QUANTITIES = map('quantity');

/** `metadata` of an object. */
export const META_SHAPE: Shape = fields({
  name: 'string',
  generateName: 'string',
  namespace: 'string',
  uid: 'string',
  labels: STRING_MAP,
  annotations: STRING_MAP,
  finalizers: STRINGS,
  ownerReferences: 'any',
  managedFields: 'any',
  creationTimestamp: 'string',
  deletionTimestamp: 'string',
  deletionGracePeriodSeconds: 'int64',
  generation: 'int64',
  resourceVersion: 'string',
  selfLink: 'string',
});

const exec = fields({ command: STRINGS });
const httpGet = fields({
  host: 'string',
  path: 'string',
  port: 'intOrString',
  scheme: 'string',
  httpHeaders: list(fields({ name: 'string', value: 'string' })),
});
const tcpSocket = fields({ host: 'string', port: 'intOrString' });
const probe = fields({
  exec,
  httpGet,
  tcpSocket,
  grpc: fields({ port: 'int32', service: 'string' }),
  initialDelaySeconds: 'int32',
  timeoutSeconds: 'int32',
  periodSeconds: 'int32',
  successThreshold: 'int32',
  failureThreshold: 'int32',
  terminationGracePeriodSeconds: 'int64',
});
const hook = fields({ exec, httpGet, tcpSocket, sleep: fields({ seconds: 'int64' }) });

const seLinuxOptions = fields({ user: 'string', role: 'string', type: 'string', level: 'string' });
const profile = fields({ type: 'string', localhostProfile: 'string' });
const windowsOptions: Shape = 'any';

const keyRef = fields({ name: 'string', key: 'string', optional: 'bool' });
const env = fields({
  name: 'string',
  value: 'string',
  valueFrom: fields({
    fieldRef: fields({ apiVersion: 'string', fieldPath: 'string' }),
    resourceFieldRef: fields({ containerName: 'string', resource: 'string', divisor: 'quantity' }),
    configMapKeyRef: keyRef,
    secretKeyRef: keyRef,
    fileKeyRef: fields({ volumeName: 'string', path: 'string', key: 'string', optional: 'bool' }),
  }),
});
const envFromRef = fields({ name: 'string', optional: 'bool' });

const resources = fields({
  limits: QUANTITIES,
  requests: QUANTITIES,
  claims: list(fields({ name: 'string', request: 'string' })),
});

const container: Record<string, Shape> = {
  name: 'string',
  image: 'string',
  command: STRINGS,
  args: STRINGS,
  workingDir: 'string',
  ports: list(
    fields({ name: 'string', containerPort: 'int32', hostPort: 'int32', hostIP: 'string', protocol: 'string' }),
  ),
  env: list(env),
  envFrom: list(fields({ prefix: 'string', configMapRef: envFromRef, secretRef: envFromRef })),
  resources,
  resizePolicy: list(fields({ resourceName: 'string', restartPolicy: 'string' })),
  restartPolicy: 'string',
  restartPolicyRules: list(
    fields({ action: 'string', exitCodes: fields({ operator: 'string', values: list('int32') }) }),
  ),
  volumeMounts: list(
    fields({
      name: 'string',
      mountPath: 'string',
      mountPropagation: 'string',
      readOnly: 'bool',
      recursiveReadOnly: 'string',
      subPath: 'string',
      subPathExpr: 'string',
    }),
  ),
  volumeDevices: list(fields({ name: 'string', devicePath: 'string' })),
  livenessProbe: probe,
  readinessProbe: probe,
  startupProbe: probe,
  lifecycle: fields({ postStart: hook, preStop: hook, stopSignal: 'string' }),
  terminationMessagePath: 'string',
  terminationMessagePolicy: 'string',
  imagePullPolicy: 'string',
  securityContext: fields({
    allowPrivilegeEscalation: 'bool',
    appArmorProfile: profile,
    capabilities: fields({ add: STRINGS, drop: STRINGS }),
    privileged: 'bool',
    procMount: 'string',
    readOnlyRootFilesystem: 'bool',
    runAsGroup: 'int64',
    runAsNonRoot: 'bool',
    runAsUser: 'int64',
    seLinuxOptions,
    seccompProfile: profile,
    windowsOptions,
  }),
  stdin: 'bool',
  stdinOnce: 'bool',
  tty: 'bool',
};

/** `spec` of a pod. */
const POD_SPEC_SHAPE: Shape = fields({
  activeDeadlineSeconds: 'int64',
  affinity: AFFINITY_SHAPE,
  automountServiceAccountToken: 'bool',
  containers: list(fields(container)),
  initContainers: list(fields(container)),
  ephemeralContainers: list(fields({ ...container, targetContainerName: 'string' })),
  dnsConfig: fields({
    nameservers: STRINGS,
    searches: STRINGS,
    options: list(fields({ name: 'string', value: 'string' })),
  }),
  dnsPolicy: 'string',
  enableServiceLinks: 'bool',
  hostAliases: list(fields({ ip: 'string', hostnames: STRINGS })),
  hostIPC: 'bool',
  hostNetwork: 'bool',
  hostPID: 'bool',
  hostUsers: 'bool',
  hostname: 'string',
  hostnameOverride: 'string',
  imagePullSecrets: list(fields({ name: 'string' })),
  nodeName: 'string',
  nodeSelector: STRING_MAP,
  os: fields({ name: 'string' }),
  overhead: QUANTITIES,
  preemptionPolicy: 'string',
  priority: 'int32',
  priorityClassName: 'string',
  readinessGates: list(fields({ conditionType: 'string' })),
  resourceClaims: list(fields({ name: 'string', resourceClaimName: 'string', resourceClaimTemplateName: 'string' })),
  resources,
  restartPolicy: 'string',
  runtimeClassName: 'string',
  schedulerName: 'string',
  schedulingGates: list(fields({ name: 'string' })),
  securityContext: fields({
    appArmorProfile: profile,
    fsGroup: 'int64',
    fsGroupChangePolicy: 'string',
    runAsGroup: 'int64',
    runAsNonRoot: 'bool',
    runAsUser: 'int64',
    seLinuxChangePolicy: 'string',
    seLinuxOptions,
    seccompProfile: profile,
    supplementalGroups: list('int64'),
    supplementalGroupsPolicy: 'string',
    sysctls: list(fields({ name: 'string', value: 'string' })),
    windowsOptions,
  }),
  serviceAccount: 'string',
  serviceAccountName: 'string',
  setHostnameAsFQDN: 'bool',
  shareProcessNamespace: 'bool',
  subdomain: 'string',
  terminationGracePeriodSeconds: 'int64',
  tolerations: list(
    fields({ key: 'string', operator: 'string', value: 'string', effect: 'string', tolerationSeconds: 'int64' }),
  ),
  topologySpreadConstraints: 'any',
  volumes: list(VOLUME_SHAPE),
  workloadRef: 'any',
});

/** A whole `v1.Pod`. */
export const POD_SHAPE: Shape = fields({
  apiVersion: 'string',
  kind: 'string',
  metadata: META_SHAPE,
  spec: POD_SPEC_SHAPE,
  status: STATUS_SHAPE,
});
