/** systemd's name of the root of all slices. */
export const ROOT_SLICE = '-.slice';
const SUFFIX = '.slice';

/** The unit of a slice's cgroup path: its last part; the root slice for `/`. */
export function sliceOfPath(path: string): string {
  return path.split('/').findLast((part) => part !== '') ?? ROOT_SLICE;
}

/**
 * The slice above a slice, as its name tells: `a-b.slice` lies in `a.slice`, and that in the root slice.
 *
 * @throws RangeError when this is no name of a slice (libcontainer's ExpandSlice)
 */
export function parentSlice(slice: string): string {
  const parts = sliceParts(slice);
  return parts.length < 2 ? ROOT_SLICE : `${parts.slice(0, -1).join('-')}${SUFFIX}`;
}

/**
 * The cgroup path of a slice: `a-b.slice` is at `/a.slice/a-b.slice`.
 *
 * @throws RangeError when this is no name of a slice (libcontainer's ExpandSlice)
 */
export function expandSlice(slice: string): string {
  const parts = sliceParts(slice);
  if (parts.length === 0) return '/';
  return parts.map((_, i) => `/${parts.slice(0, i + 1).join('-')}${SUFFIX}`).join('');
}

function sliceParts(slice: string): string[] {
  if (slice === ROOT_SLICE) return [];
  const parts = slice.slice(0, -SUFFIX.length).split('-');
  if (!slice.endsWith(SUFFIX) || slice.includes('/') || parts.includes(''))
    throw new RangeError(`invalid slice name: ${slice}`);
  return parts;
}

/**
 * The UID in the last part of a pod's cgroup path: `pod<uid>` (cgroupfs) or `kubepods-burstable-pod<uid>.slice` (systemd,
 * where the UID's `-` are written `_`); undefined for any other cgroup.
 */
export function podUidOfCgroup(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const found = /^(?:.+-)pod([^-]+)\.slice$/.exec(name)?.[1];
  if (found !== undefined) return found.replaceAll('_', '-');
  return name.endsWith(SUFFIX) ? undefined : /^pod(.+)$/.exec(name)?.[1];
}
