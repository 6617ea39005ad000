import { Worker } from 'node:worker_threads';
import type { Finding } from './measure.ts';
import type { Told } from './measuring-worker.ts';

/** Memory that texts of 1 MiB may make of themselves at most, MiB. */
const MAX_HEAP_MIB = 256;

/** What was found, and which places were looked at. */
export interface Looked {
  findings: Finding[];
  places: string[];
}

/** Measures all places of a file of the table. A thread that dies, of its memory as a rule, is a finding of its place. */
export async function lookAt(file: URL): Promise<Looked> {
  const looked: Looked = { findings: [], places: [] };
  const worker = new Worker(new URL('./measuring-worker.ts', import.meta.url), {
    workerData: file.href,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB },
    // What parsers log of hostile text is no word for whoever reads the tests' output.
    stdout: true,
    stderr: true,
  });
  let done = false;
  worker.on('message', (told: Told) => {
    if (told.t === 'place') looked.places.push(told.name);
    else if (told.t === 'finding') looked.findings.push(told.finding);
    else done = true;
  });
  let died = 'it ended';
  worker.on('error', (error) => (died = error instanceof Error ? error.message : String(error)));
  await new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  if (!done) looked.findings.push({ place: looked.places.at(-1) ?? 'none', shape: '?', size: 0, ms: 0, error: died });
  return looked;
}
