import { createHash } from 'node:crypto';
import type { EffectCatalog } from '../../../machines/protocol/effects.ts';
import type { TrackedLogin } from './pull-logins.ts';

/** Tells containerd with which snapshotter an image is unpacked. */
const HANDLER_ANNOTATION = 'io.containerd.cri.runtime-handler';

/**
 * What a pull is made with, as a text that is the same for those who may share one: the image as the runtime is asked for it,
 * the runtime handler, and all logins in the order in which they are tried. A pod whose logins are others pulls by itself, so
 * that the registry decides of it (KEP-2535). A hash stands for the logins: nobody shall read them here.
 */
export function pullRight(
  { image, runtimeHandler, sandboxConfig }: EffectCatalog['image.Pull']['params'],
  logins: readonly TrackedLogin[],
): string {
  const handler = sandboxConfig?.annotations?.[HANDLER_ANNOTATION] ?? '';
  const texts = JSON.stringify(logins.map(({ username, password }) => [username, password]));
  return JSON.stringify([image, runtimeHandler, handler, createHash('sha256').update(texts).digest('hex')]);
}
