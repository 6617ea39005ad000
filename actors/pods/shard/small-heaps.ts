import { setFlagsFromString } from 'node:v8';

/**
 * Keeps the JavaScript heaps of main and of the workers close to what lives in them. V8 lets a heap grow to a multiple
 * of that before it collects, as far as the machine's memory allows; an agent has to leave the memory to its pods.
 * Costs a tenth of CPU time while pods start, and halves RSS (test/bench/sim-scale.ts). Called before the workers
 * start: the sizes of their young generations are set when they are made.
 */
export function keepHeapsSmall(): void {
  setFlagsFromString('--heap-growing-percent=30');
  setFlagsFromString('--max-semi-space-size=4');
  setFlagsFromString('--min-semi-space-size=1');
}
