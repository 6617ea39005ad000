import type { ListedImage, MachineFacts, NodeObjectConfig, NodeStatus, RuntimeFacts } from './node-types.ts';

/** Most names of one image in the status. */
const MAX_NAMES_PER_IMAGE = 5;

const SEMANTIC =
  /^v?((?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?)$/;
const GENERIC = /^\s*v?(\d+(?:\.\d+)+)/;

/**
 * A runtime's version as kubelet prints it: a semantic one whole (`1.7.2-rc.1`), else its leading numbers
 * (`1.6.20~ds1` is `1.6.20`), `Unknown` when there are none.
 */
export function runtimeVersionText(version: string): string {
  const numbers = SEMANTIC.exec(version)?.[1] ?? GENERIC.exec(version)?.[1];
  return numbers ?? 'Unknown';
}

/** `status.nodeInfo`. */
export function nodeInfoOf(
  machine: MachineFacts,
  runtime: RuntimeFacts,
  config: NodeObjectConfig,
): NonNullable<NodeStatus['nodeInfo']> {
  return {
    machineID: machine.machineID,
    systemUUID: machine.systemUUID,
    bootID: machine.bootID,
    kernelVersion: machine.kernelVersion,
    osImage: machine.osImage,
    containerRuntimeVersion: `${runtime.name}://${runtimeVersionText(runtime.version)}`,
    kubeletVersion: config.kubeletVersion,
    // Deprecated and empty since 1.33, yet always written.
    kubeProxyVersion: config.tellsKubeProxyVersion ? config.kubeletVersion : '',
    operatingSystem: machine.operatingSystem,
    architecture: machine.architecture,
    ...(machine.swapBytes > 0 ? { swap: { capacity: machine.swapBytes } } : {}),
  };
}

/**
 * `status.images`: the largest ones (`nodeStatusMaxImages`), each with its digests before its tags. Of equally large ones that with the greater
 * id comes first: the runtime lists them in any order, and another order would be a change of the status.
 */
export function imagesOf(images: readonly ListedImage[], max: number): { names: string[]; sizeBytes: number }[] {
  const sorted = [...images].sort((a, b) => b.sizeBytes - a.sizeBytes || (a.id < b.id ? 1 : -1));
  return (max > -1 ? sorted.slice(0, max) : sorted).map((image) => ({
    names: [...image.repoDigests, ...image.repoTags].slice(0, MAX_NAMES_PER_IMAGE),
    sizeBytes: image.sizeBytes,
  }));
}

/** `status.runtimeHandlers`; undefined when the runtime names none. */
export function handlersOf(runtime: RuntimeFacts): NodeStatus['runtimeHandlers'] {
  if (runtime.handlers === null || runtime.handlers.length === 0) return undefined;
  return runtime.handlers.map(({ name, ...features }) => ({ name, features }));
}
