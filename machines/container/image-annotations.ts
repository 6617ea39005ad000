import type { Pod } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';

/** The pod's annotations, with which images are asked for and pulled (CRI `ImageSpec.annotations`): a runtime may go by them. */
export function imageAnnotations(
  { metadata }: Pod,
  settings: Pick<NodeSettings, 'behaviour'>,
): { annotations?: Record<string, string> } {
  if (metadata?.annotations === undefined || !behaves(settings, 'imagesHaveAnnotations')) return {};
  return { annotations: { ...metadata.annotations } };
}
