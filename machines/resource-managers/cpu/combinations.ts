/** A Go slice: several may stand on one array, and see what is written through another. */
interface Slice {
  array: number[];
  length: number;
  capacity: number;
}

/** Numbers of a combination. They are read when they are needed: see {@link eachCombination}. */
export interface Combination {
  numbers: () => number[];
}

/**
 * All ways to take `size` of the numbers, in Go's order, until `visit` says `stop`.
 *
 * A combination that is kept may change later, as it does in kubelet: there it is a slice that `append` grew by doubling its array, so that
 * those of four, six, seven and eight numbers that begin alike share one, and the last of them is what all of them read. What kubelet grants
 * on machines of four and more NUMA nodes goes by that.
 */
export function eachCombination(
  numbers: readonly number[],
  size: number,
  visit: (combination: Combination) => 'stop' | 'on',
): void {
  if (size < 1) return;
  const walk = (left: number, start: number, so: Slice): 'stop' | 'on' => {
    if (left === 0) return visit({ numbers: () => so.array.slice(0, so.length) });
    for (let i = start; i <= numbers.length - left; i++) {
      if (walk(left - 1, i + 1, appended(so, numbers[i] ?? 0)) === 'stop') return 'stop';
    }
    return 'on';
  };
  walk(size, 0, { array: [], length: 0, capacity: 0 });
}

function appended({ array, length, capacity }: Slice, number: number): Slice {
  if (length < capacity) {
    array[length] = number;
    return { array, length: length + 1, capacity };
  }
  return { array: [...array.slice(0, length), number], length: length + 1, capacity: Math.max(1, capacity * 2) };
}
