const UNITS = ['', 'Ki', 'Mi', 'Gi', 'Ti'];

/** `hugepages-2Mi` of a page of 2 MiB. */
export function hugePageResource(bytes: number): string {
  let [size, unit] = [bytes, 0];
  while (size > 0 && size % 1024 === 0 && unit < UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  return `hugepages-${size}${UNITS[unit] ?? ''}`;
}
