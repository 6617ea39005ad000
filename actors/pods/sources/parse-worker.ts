import { parentPort, workerData } from 'node:worker_threads';
import { parseDocuments } from './parse-documents.ts';

/** The thread of `parseApart`: tells the documents of the text, and ends. */
parentPort?.postMessage(parseDocuments(String(workerData)));
