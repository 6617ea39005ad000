import { setFlagsFromString } from 'node:v8';

/**
 * Has V8 compile less: an agent does a little of many things, so most of what the optimizing compilers make of it by V8's own counts (a function
 * that was called 400 times) is never paid back, and what is forgotten of functions that rest for a minute is made anew at the next pod. What a
 * busy node does all the time is optimized all the same. The curve is in docs/profile.md. A Node that does not know one of these says so on
 * standard error, and goes on. Called before the workers start.
 */
export function compileLate(): void {
  setFlagsFromString('--no-flush-bytecode');
  setFlagsFromString('--invocation-count-for-maglev=6000');
  setFlagsFromString('--invocation-count-for-turbofan=20000');
}
