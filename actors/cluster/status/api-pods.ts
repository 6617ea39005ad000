import type { Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import { CONFIG_MIRROR } from '../../../machines/sources/annotations.ts';
import { isOlder } from '../api/resource-version.ts';

/** What is kept of a pod of the API: parts of the watch cache's object, no copies. */
export interface ApiPod {
  uid: string;
  namespace: string;
  name: string;
  resourceVersion: string;
  deleting: boolean;
  hasFinalizers: boolean;
  /** Hash of the static pod that it mirrors; '' for an ordinary pod. */
  mirrorOf: string;
  status: PodStatus;
}

/** The newest objects of this node's pods, from the watch and from answers to own patches, whichever is newer. */
export class ApiPods {
  private readonly pods = new Map<string, ApiPod>();
  /** UID of the mirror pod by hash, which is the static pod's UID. */
  private readonly mirrors = new Map<string, string>();

  /** Takes an object unless a newer one is known. Returns it, or null when it was old. */
  take(object: Pod): ApiPod | null {
    const pod = slim(object);
    if (pod.uid === '') return null;
    const known = this.pods.get(pod.uid);
    if (known && isOlder(pod.resourceVersion, known.resourceVersion)) return null;
    this.pods.set(pod.uid, pod);
    if (pod.mirrorOf !== '') this.mirrors.set(pod.mirrorOf, pod.uid);
    return pod;
  }

  /**
   * Takes the answer to an own request, unless the watch told as much already, or that the pod is gone. Returns what
   * the server made of the request, which somebody else may have changed since; null when the pod is gone.
   */
  takeAnswer(object: Pod): ApiPod | null {
    const answer = slim(object);
    const known = this.pods.get(answer.uid);
    if (known === undefined) return null;
    // The watch's object is preferred: it is in the reflector's cache anyway.
    if (isOlder(known.resourceVersion, answer.resourceVersion)) this.take(object);
    return answer;
  }

  /** Takes the whole list of a relist: what it does not name is gone. */
  replace(objects: readonly Pod[]): void {
    const named = new Set(objects.map(({ metadata }) => metadata?.uid));
    for (const uid of [...this.pods.keys()]) if (!named.has(uid)) this.remove(uid);
    for (const object of objects) this.take(object);
  }

  remove(uid: string): ApiPod | undefined {
    const pod = this.pods.get(uid);
    this.pods.delete(uid);
    if (pod && this.mirrors.get(pod.mirrorOf) === uid) this.mirrors.delete(pod.mirrorOf);
    return pod;
  }

  /** The API's object of a pod of source API. */
  own(uid: string): ApiPod | undefined {
    const pod = this.pods.get(uid);
    return pod?.mirrorOf === '' ? pod : undefined;
  }

  /** The mirror pod that shows a static pod. */
  mirror(staticUid: string): ApiPod | undefined {
    return this.pods.get(this.mirrors.get(staticUid) ?? '');
  }
}

function slim({ metadata, status }: Pod): ApiPod {
  return {
    uid: metadata?.uid ?? '',
    namespace: metadata?.namespace ?? '',
    name: metadata?.name ?? '',
    resourceVersion: metadata?.resourceVersion ?? '',
    deleting: metadata?.deletionTimestamp !== undefined,
    hasFinalizers: (metadata?.finalizers?.length ?? 0) > 0,
    mirrorOf: metadata?.annotations?.[CONFIG_MIRROR] ?? '',
    status: status ?? {},
  };
}
