const UNITS = ['KiB', 'MiB', 'GiB', 'TiB'];

/** Bytes as kubelet's events have them, e.g. `12.5 GiB`. */
export function spokenSize(bytes: number): string {
  if (bytes < 1024) return `${Math.trunc(bytes)} B`;
  let size = bytes / 1024;
  let unit = 0;
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${(evenTenths(size) / 10).toFixed(1)} ${UNITS[unit] ?? ''}`;
}

/** Tenths, the even one when it lies in the middle, as Go rounds. */
function evenTenths(size: number): number {
  const floor = Math.floor(size * 10);
  const rest = size * 10 - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}
