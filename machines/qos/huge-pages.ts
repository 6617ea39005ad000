import type { Amounts } from './resource-amounts.ts';
import { amountsOf, units } from './resource-amounts.ts';

const PREFIX = 'hugepages-';

/** Bytes of huge pages by page size as the kernel spells it (`2MB`): of each size of the node what is asked, otherwise 0. */
export function hugepageBytes(sizes: readonly string[], amounts: Amounts): Record<string, number> {
  const asked = new Map<string, number>();
  for (const [name, amount] of Object.entries(amounts)) {
    if (!name.startsWith(PREFIX)) continue;
    const bytes = units(amountsOf({ size: name.slice(PREFIX.length) })['size']);
    asked.set(kernelSize(bytes), units(amount));
  }
  return Object.fromEntries(sizes.map((size) => [size, asked.get(size) ?? 0]));
}

/** 2097152 -> `2MB`, as the kernel's hugetlb files are named. */
function kernelSize(bytes: number): string {
  let size = bytes;
  let step = 0;
  while (size >= 1024 && step < 5) {
    size = Math.trunc(size / 1024);
    step++;
  }
  return `${size}${['B', 'KB', 'MB', 'GB', 'TB', 'PB'][step]}`;
}
