import type { Pod, Volume } from '../protocol/api-types.ts';
import type { VolumeFile } from '../protocol/effects.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { metadataFieldValue } from '../container-config/downward-fields.ts';
import type { FieldValue } from '../container-config/downward-fields.ts';
import { volumeResourceValue } from '../container-config/resource-fields.ts';

/** The items of a downwardAPI volume or source as files with their content, and what could not be read. */
export function downwardFiles(
  pod: Pod,
  items: NonNullable<Volume['downwardAPI']>['items'],
  defaultMode: number,
  settings: NodeSettings,
): { files: VolumeFile[]; faults: string[] } {
  const files = new Map<string, VolumeFile>();
  const faults: string[] = [];
  for (const { path, fieldRef, resourceFieldRef, mode } of items ?? []) {
    let found: FieldValue = { value: '' };
    if (fieldRef) found = metadataFieldValue(fieldRef.fieldPath, pod);
    else if (resourceFieldRef) found = volumeResourceValue(resourceFieldRef, pod, settings);
    if ('fault' in found) faults.push(found.fault);
    else files.set(cleanPath(path), { path: cleanPath(path), content: found.value, mode: mode ?? defaultMode });
  }
  return { files: [...files.values()], faults };
}

function cleanPath(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}
