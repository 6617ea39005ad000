/** Measures the places of one file of the table, in a thread whose memory is bounded and that can be given up. */
import { parentPort, workerData } from 'node:worker_threads';
import { measure } from './measure.ts';
import type { Finding } from './measure.ts';
import type { Place } from './place.ts';

/** What is told: a place is begun, something was found, all is done. */
export type Told = { t: 'place'; name: string } | { t: 'finding'; finding: Finding } | { t: 'done' };

const port = parentPort;
if (port !== null) {
  const tell = (told: Told): void => port.postMessage(told);
  const { places } = (await import(workerData as string)) as { places: readonly Place[] };
  for (const place of places) {
    tell({ t: 'place', name: place.name });
    await measure(place, (finding) => tell({ t: 'finding', finding }));
  }
  tell({ t: 'done' });
}
