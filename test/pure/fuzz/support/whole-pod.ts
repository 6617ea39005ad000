import type { Pod } from '../../../../machines/protocol/api-types.ts';

const probe = (handler: object) => ({ ...handler, periodSeconds: 5, failureThreshold: 2, initialDelaySeconds: 1 });

/** A valid pod that uses most of what a pod can say: what inputs are made from. */
export function wholePod(name = 'web', uid?: string): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      ...(uid && { uid }),
      labels: { app: 'web' },
      annotations: { note: 'some' },
    },
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 5,
      activeDeadlineSeconds: 600,
      hostname: 'web',
      subdomain: 'sub',
      nodeSelector: { 'kubernetes.io/os': 'linux' },
      dnsPolicy: 'None',
      dnsConfig: { nameservers: ['10.0.0.1'], searches: ['a.b'], options: [{ name: 'ndots', value: '2' }] },
      hostAliases: [{ ip: '10.1.1.1', hostnames: ['xx', 'yy'] }],
      securityContext: {
        runAsUser: 1000,
        fsGroup: 2000,
        supplementalGroups: [3000],
        seccompProfile: { type: 'RuntimeDefault' },
        sysctls: [{ name: 'kernel.shm_rmid_forced', value: '0' }],
      },
      tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 5 }],
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: 'z', operator: 'In', values: ['a'] }] }],
          },
        },
      },
      initContainers: [
        { name: 'init', image: 'img:1', command: ['sh', '-c', 'true'] },
        { name: 'side', image: 'img:1', restartPolicy: 'Always', startupProbe: probe({ exec: { command: ['p'] } }) },
      ],
      containers: [
        {
          name: 'c',
          image: 'img:1',
          imagePullPolicy: 'IfNotPresent',
          command: ['run', '$(A)'],
          args: ['$(B)', '$$(A)'],
          workingDir: '/tmp',
          env: [
            { name: 'A', value: '1' },
            { name: 'B', value: '$(A)2' },
            { name: 'NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            { name: 'M', valueFrom: { resourceFieldRef: { resource: 'limits.memory', divisor: '1Mi' } } },
          ],
          ports: [{ containerPort: 80, hostPort: 8080, protocol: 'TCP', name: 'http' }],
          resources: { requests: { cpu: '100m', memory: '32Mi' }, limits: { cpu: '1', memory: '64Mi' } },
          volumeMounts: [
            { name: 'scratch', mountPath: '/scratch', subPath: 'a/b', mountPropagation: 'None' },
            { name: 'host', mountPath: '/host', readOnly: true },
            { name: 'info', mountPath: '/info', subPathExpr: '$(NAME)' },
          ],
          livenessProbe: probe({ httpGet: { path: '/', port: 'http', httpHeaders: [{ name: 'X', value: 'yy' }] } }),
          readinessProbe: probe({ tcpSocket: { port: 80 } }),
          lifecycle: {
            preStop: { sleep: { seconds: 1 } },
            postStart: { exec: { command: ['start'] } },
          },
          securityContext: { capabilities: { add: ['NET_ADMIN'], drop: ['ALL'] }, readOnlyRootFilesystem: true },
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
        { name: 'd', image: 'img:2', imagePullPolicy: 'IfNotPresent' },
      ],
      volumes: [
        { name: 'scratch', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
        { name: 'host', hostPath: { path: '/tmp', type: 'Directory' } },
        {
          name: 'info',
          downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' }, mode: 256 }] },
        },
        {
          name: 'all',
          projected: {
            sources: [{ downwardAPI: { items: [{ path: 'nn', fieldRef: { fieldPath: 'metadata.name' } }] } }],
          },
        },
      ],
    },
  };
}
