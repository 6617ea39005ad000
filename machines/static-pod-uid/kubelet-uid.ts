import type { Pod } from '../protocol/api-types.ts';
import { originText, type StaticOrigin } from '../sources/static-pod.ts';
import { Fnv128a } from '../values/fnv128.ts';
import { writeGoText } from './go-text.ts';
import { internalPod } from './internal-pod.ts';

/**
 * The UID that kubelet 1.35 gives to a static pod whose manifest sets none (applyDefaults of its config sources): FNV-1a of 128 bits
 * over the print of Go's internal pod and where it was read, so that a switch between the two restarts no static pod.
 *
 * Not the same are pods whose manifest has a time (`metadata.creationTimestamp` and its like; `null` is none): kubelet's hash takes
 * in the time zone of its machine, with what it has cached of it since it was started.
 * @param pod the manifest as it was written, types checked, without defaults
 * @returns 32 hex digits
 */
export function kubeletUid(pod: Pod, origin: StaticOrigin): string {
  const hash = new Fnv128a();
  const write = (text: string): void => hash.write(text);
  write('(*core.Pod)');
  writeGoText('core.Pod', internalPod(pod), write);
  write(originText(origin));
  return hash.hex();
}
