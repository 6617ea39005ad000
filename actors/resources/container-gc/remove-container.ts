import type { CriClient } from '../../../cri/client/cri-client.ts';
import { isCriError } from '../../../cri/client/cri-error.ts';
import type { DoomedContainer } from '../../../machines/container-gc/container-gc-context.ts';
import { ContainerState } from '../../../cri/generated/runtime/v1/api.ts';
import { LABEL } from '../../../machines/protocol/runtime-labels.ts';
import type { PodLogs } from '../../host/logs/pod-logs.ts';

/** Grace for a container whose state the runtime does not know, s (kubelet's minimumGracePeriodInSeconds). */
const STOP_SECONDS = 2;

/**
 * Removes a dead container and its log, log first as kubelet does: what stays of a failure is found again by its container. One that
 * has come to run meanwhile stays.
 *
 * @returns whether it is gone
 */
export async function removeContainer(
  { runtime }: Pick<CriClient, 'runtime'>,
  logs: Pick<PodLogs, 'removeLog'>,
  { id: containerId, stop }: Pick<DoomedContainer, 'id' | 'stop'>,
): Promise<boolean> {
  const answer = await runtime.containerStatus({ containerId }).catch((error: unknown) => {
    if (isCriError(error, 'NotFound')) return null;
    throw error;
  });
  if (answer === null) return true;
  const { status } = answer;
  if (status?.state === ContainerState.CONTAINER_RUNNING) return false;
  if (stop) await runtime.stopContainer({ containerId, timeout: String(STOP_SECONDS) });
  const logPath = status?.logPath ?? '';
  if (logPath !== '') await logs.removeLog({ logPath, linkName: linkNameOf(containerId, status?.labels ?? {}) });
  await runtime.removeContainer({ containerId });
  return true;
}

/** `<pod>_<namespace>_<container>-<id>.log`. */
function linkNameOf(id: string, labels: Readonly<Record<string, string>>): string {
  const [pod = '', namespace = '', name = ''] = [LABEL.podName, LABEL.podNamespace, LABEL.containerName].map(
    (label) => labels[label],
  );
  return `${pod}_${namespace}_${name}-${id}.log`;
}
