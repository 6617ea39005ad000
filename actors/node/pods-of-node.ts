import type { Logger } from 'pino';
import { podProblem } from '../../machines/pod-validation/pod-problem.ts';
import { isMirrorPod } from '../../machines/mirror-pods/mirror-pod.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { ApiClient } from '../cluster/api/api-client.ts';
import { Reflector } from '../cluster/api/reflector.ts';
import { tellEach } from '../record/logging/tell-each.ts';

/** Who hears of the pods of this node. */
export interface PodsOfNodeOptions {
  api: ApiClient;
  nodeName: string;
  log: Logger;
  /** After a list: all pods, mirror pods included. */
  onList: (pods: Pod[]) => void;
  /** One pod was added or changed, or is gone. */
  onPod: (pod: Pod, gone: boolean) => void;
  /**
   * After each list and each change: the pods to run, the same objects as before where nothing changed. `changed`: the one that is in
   * another version now, when nothing else is new.
   */
  onPods: (pods: () => Pod[], changed?: Pod) => void;
}

/**
 * Watches the pods whose `spec.nodeName` is this node. While the API server is away nothing is told, so the last known list goes on to hold.
 */
export function watchPodsOfNode({ api, nodeName, log, onList, onPod, onPods }: PodsOfNodeOptions): Reflector<Pod> {
  const all = () => reflector.list().filter((pod) => !isMirrorPod(pod));
  const reflector: Reflector<Pod> = new Reflector<Pod>({
    api,
    on: { group: '', version: 'v1', resource: 'pods' },
    fieldSelector: `spec.nodeName=${nodeName}`,
    log: log.child({ source: 'api' }),
    refuse: (pod) => podProblem(pod),
    onSync: (pods) => tellEach(log, 'pods of the node', { onList: () => onList(pods), onPods: () => onPods(all) }),
    onEvent: ({ type, object }) =>
      tellEach(log, 'a pod of the node', {
        onPod: () => onPod(object, type === 'DELETED'),
        ...(!isMirrorPod(object) && { onPods: () => onPods(all, type === 'MODIFIED' ? object : undefined) }),
      }),
  });
  return reflector;
}
