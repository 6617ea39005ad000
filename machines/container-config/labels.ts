import type { Container, Pod } from '../protocol/api-types.ts';
import { podIdentity } from '../sandbox-config/pod-identity.ts';
import { POD_NAMESPACE_LABEL, POD_NAME_LABEL, POD_UID_LABEL } from '../sandbox-config/sandbox-config.ts';
import { containerHash } from './container-hash.ts';
import { goJson } from './go-json.ts';
import { terminationMessagePath } from './volume-mounts.ts';

/** Label with the container's name. */
export const CONTAINER_NAME_LABEL = 'io.kubernetes.container.name';

type Handler = NonNullable<NonNullable<Container['lifecycle']>['preStop']>;

/** Labels of a container: who it is. The pod's own labels stand on the sandbox only. */
export function containerLabels(pod: Pod, container: Container): Record<string, string> {
  const { name, namespace, uid } = podIdentity(pod);
  return {
    [POD_NAME_LABEL]: name,
    [POD_NAMESPACE_LABEL]: namespace,
    [POD_UID_LABEL]: uid,
    [CONTAINER_NAME_LABEL]: container.name,
  };
}

/** What an agent must know of a container after a restart, without its pod: the kubelet's annotations. */
export function containerAnnotations(pod: Pod, container: Container, restartCount: number): Record<string, string> {
  const annotations: Record<string, string> = {
    'io.kubernetes.container.hash': containerHash(container),
    'io.kubernetes.container.restartCount': String(restartCount),
    'io.kubernetes.container.terminationMessagePath': terminationMessagePath(container),
    'io.kubernetes.container.terminationMessagePolicy': container.terminationMessagePolicy || 'File',
  };
  const deletion = pod.metadata?.deletionGracePeriodSeconds;
  if (deletion !== undefined) annotations['io.kubernetes.pod.deletionGracePeriod'] = String(deletion);
  const grace = pod.spec?.terminationGracePeriodSeconds ?? 30;
  annotations['io.kubernetes.pod.terminationGracePeriod'] = String(grace);
  const preStop = container.lifecycle?.preStop;
  if (preStop) annotations['io.kubernetes.container.preStopHandler'] = goJson(orderedHandler(preStop));
  const ports = container.ports ?? [];
  if (ports.length > 0) annotations['io.kubernetes.container.ports'] = goJson(ports.map(orderedPort));
  return annotations;
}

/** Keys in the order of the Go type and empty ones left out, so that the text is the kubelet's. */
function orderedHandler({ exec, httpGet, tcpSocket, sleep }: Handler): unknown {
  return {
    exec: exec && { command: exec.command?.length ? exec.command : undefined },
    httpGet: httpGet && {
      path: httpGet.path || undefined,
      port: httpGet.port,
      host: httpGet.host || undefined,
      scheme: httpGet.scheme || undefined,
      httpHeaders: httpGet.httpHeaders?.length
        ? httpGet.httpHeaders.map(({ name, value }) => ({ name, value }))
        : undefined,
    },
    tcpSocket: tcpSocket && { port: tcpSocket.port, host: tcpSocket.host || undefined },
    sleep: sleep && { seconds: sleep.seconds },
  };
}

function orderedPort(port: NonNullable<Container['ports']>[number]): unknown {
  return {
    name: port.name || undefined,
    hostPort: port.hostPort || undefined,
    containerPort: port.containerPort,
    protocol: port.protocol || 'TCP',
    hostIP: port.hostIP || undefined,
  };
}
