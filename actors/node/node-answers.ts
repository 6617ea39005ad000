import { withClaims } from '../../machines/claims/container-claims.ts';
import type { Ask, AskCatalog, AskType, NodeAskType } from '../../machines/protocol/ask.ts';
import { trackedPod } from '../../machines/supervisor/pod-table.ts';
import type { Supervisor } from '../pods/supervisor/supervisor.ts';
import type { ClaimManager } from '../resources/claims/claim-manager.ts';
import type { DeviceManager } from '../resources/devices/device-manager.ts';
import type { VolumeManager } from '../resources/volumes/volume-manager.ts';
import type { ImagePuller } from '../runtime/images/image-puller.ts';
import type { Cluster } from './cluster.ts';
import type { NodeEdges } from './edges.ts';

/** Who answers what workers ask. */
export interface NodeAnswerParts {
  supervisor: Supervisor;
  puller: ImagePuller;
  userNamespaces: NodeEdges['userNamespaces'];
  quotas: NodeEdges['quotas'];
  /** Null where no device plugin can come. */
  devices: DeviceManager | null;
  /** Null where no driver can come. */
  claims: ClaimManager | null;
  volumes: VolumeManager;
  /** Null on a standalone node. */
  cluster: Cluster | null;
}

type NodeAnswers = {
  readonly [T in NodeAskType]: (
    parts: NodeAnswerParts,
    params: AskCatalog[T]['params'],
  ) => Promise<AskCatalog[T]['result']>;
};

const ANSWERS: NodeAnswers = {
  'image.MayUse': ({ puller }, params) => puller.mayUse(params),
  'devices.Get': async ({ supervisor, claims, devices }, { podUid, container }) => {
    const pod = trackedPod(supervisor.context.pods, podUid)?.pod;
    if (pod === undefined) return { options: null };
    // Kubelet asks for claims first, and the runtime gets their devices first.
    const claimed = claims?.cdiDevices(pod, container) ?? [];
    return { options: withClaims(claimed, (await devices?.optionsOf(pod, container)) ?? null) };
  },
  'devices.Envs': ({ devices }, { podUid, container }) =>
    Promise.resolve({ envs: devices?.given(podUid, container).envs ?? [] }),
  'claims.Prepare': async ({ supervisor, claims }, { podUid }) => {
    const pod = trackedPod(supervisor.context.pods, podUid)?.pod;
    if (pod !== undefined) await claims?.prepare(pod);
    return {};
  },
  'claims.Unprepare': async ({ claims }, { podUid }) => {
    await claims?.unprepare(podUid);
    return {};
  },
  'volume.Mount': async ({ volumes }, { podUid, volume }) => {
    const path = await volumes.mount(podUid, volume);
    return { path, ...(await volumes.traitsOf(podUid, volume, path)) };
  },
  'volume.Name': ({ volumes }, { podUid, volume }) => Promise.resolve({ name: volumes.nameOf(podUid, volume) }),
  'volume.Unmount': async ({ volumes }, { podUid }) => {
    await volumes.unmount(podUid);
    return {};
  },
  'quota.Assign': async ({ quotas }, { folder, bytes }) => {
    await quotas?.assign(folder, bytes);
    return {};
  },
  'quota.Release': async ({ quotas }, { below }) => {
    await quotas?.release(below);
    return {};
  },
  'userns.Get': ({ userNamespaces }, { podUid, handler }) => userNamespaces.get(podUid, handler),
};

/** Who answers such a question: the node itself, or what it knows of the API server; null when it knows of none. */
export function answersTo(what: AskType, parts: NodeAnswerParts): Ask | null {
  if (!isOfNode(what)) return parts.cluster?.objects.answers ?? null;
  const answer = ANSWERS[what] as (parts: NodeAnswerParts, params: unknown) => Promise<unknown>;
  return ((_what, params) => answer(parts, params)) as Ask;
}

function isOfNode(what: AskType): what is NodeAskType {
  return Object.hasOwn(ANSWERS, what);
}

/** Answers to what main asks itself as workers do: what needs no API server. */
export function nodeAnswers(parts: () => NodeAnswerParts): Ask {
  return (what, params) => {
    const answers = answersTo(what, parts());
    return answers === null ? Promise.reject(new Error('no API server')) : answers(what, params);
  };
}
