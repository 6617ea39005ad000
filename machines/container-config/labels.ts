import type { Container, Pod } from '../protocol/api-types.ts';
import { ANNOTATION, LABEL } from '../protocol/runtime-labels.ts';
import { podIdentity } from '../sandbox-config/pod-identity.ts';
import { containerHash } from './container-hash.ts';
import { goJson } from './go-json.ts';
import { terminationMessagePath } from './volume-mounts.ts';

type Handler = NonNullable<NonNullable<Container['lifecycle']>['preStop']>;

/** Labels of a container: who it is. The pod's own labels stand on the sandbox only. */
export function containerLabels(pod: Pod, container: Container): Record<string, string> {
  const { name, namespace, uid } = podIdentity(pod);
  return {
    [LABEL.podName]: name,
    [LABEL.podNamespace]: namespace,
    [LABEL.podUid]: uid,
    [LABEL.containerName]: container.name,
  };
}

/** What an agent must know of a container after a restart, without its pod: the kubelet's annotations. */
export function containerAnnotations(pod: Pod, container: Container, restartCount: number): Record<string, string> {
  const annotations: Record<string, string> = {
    [ANNOTATION.hash]: containerHash(container),
    [ANNOTATION.restartCount]: String(restartCount),
    [ANNOTATION.terminationMessagePath]: terminationMessagePath(container),
    [ANNOTATION.terminationMessagePolicy]: container.terminationMessagePolicy || 'File',
  };
  const deletion = pod.metadata?.deletionGracePeriodSeconds;
  if (deletion !== undefined) annotations[ANNOTATION.deletionGracePeriod] = String(deletion);
  const grace = pod.spec?.terminationGracePeriodSeconds ?? 30;
  annotations[ANNOTATION.terminationGracePeriod] = String(grace);
  const preStop = container.lifecycle?.preStop;
  if (preStop) annotations[ANNOTATION.preStopHandler] = goJson(orderedHandler(preStop));
  const ports = container.ports ?? [];
  if (ports.length > 0) annotations[ANNOTATION.ports] = goJson(ports.map(orderedPort));
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
