import { z } from 'zod';
import { messageOf } from '../../../machines/values/message-of.ts';

/** Name of the file in a pod's folder that keeps its id mappings, as kubelet writes it. */
export const MAPPINGS_FILE = 'userns';

const mapping = z.object({ hostId: z.number().int(), containerId: z.number().int(), length: z.number().int() });
const file = z.object({ uidMappings: z.array(mapping), gidMappings: z.array(mapping) });

/** The file's text for one block of ids, the same for users and groups. */
export function mappingsText(hostId: number, length: number): string {
  const mappings = [{ hostId, containerId: 0, length }];
  return JSON.stringify({ uidMappings: mappings, gidMappings: mappings });
}

/** The block that a file names. Throws Errors with kubelet's texts for what kubelet would not have written. */
export function parseMappings(text: string): { hostId: number; length: number } {
  let content: z.infer<typeof file>;
  try {
    content = file.parse(JSON.parse(text));
  } catch (error) {
    throw new Error(`invalid user namespace mappings file: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const [uids] = content.uidMappings;
  const [gids] = content.gidMappings;
  const invalid = 'invalid user namespace configuration:';
  if (uids === undefined || content.uidMappings.length !== 1)
    throw new Error(`${invalid} no more than one mapping allowed.`);
  if (gids === undefined || content.gidMappings.length !== 1)
    throw new Error(`${invalid} GID and UID mappings should be identical.`);
  if (uids.hostId !== gids.hostId || uids.containerId !== gids.containerId || uids.length !== gids.length)
    throw new Error(`${invalid} GID and UID mapping should be identical`);
  if (uids.containerId !== 0) throw new Error(`${invalid} UID 0 must be mapped`);
  return { hostId: uids.hostId, length: uids.length };
}
