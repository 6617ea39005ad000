import { join } from 'node:path';
import type { Logger } from 'pino';
import type { NodeContext, NodeMessage, NodeOrder } from '../../../machines/node/node-context.ts';
import { JOURNAL_VERSION } from './records.ts';
import { SegmentLog } from './segment-log.ts';

/** What the node's journal is made from. */
export interface NodeJournalSettings {
  /** The journal's folder. */
  dir: string;
  agent: string;
  nodeName: string;
  /** Bound on all its segments together, bytes on disk. */
  maxBytes: number;
  log: Logger;
}

/** Folder of the node's log within the journal's: readers that do not know its records (0.1.0) do not look there. */
export const NODE_FOLDER = 'node';

/** The message log of the node machine. It gets a message only when something has changed, so it is short. */
export class NodeJournal {
  private readonly config: NodeJournalSettings;
  private readonly place: () => { value: unknown; context: NodeContext };
  private readonly segments: SegmentLog;
  private number = 0;

  constructor(config: NodeJournalSettings, place: () => { value: unknown; context: NodeContext }) {
    this.config = config;
    this.place = place;
    const { dir, maxBytes, log } = config;
    const opening = (seq: number) => this.opening(seq);
    this.segments = new SegmentLog({ dir: join(dir, NODE_FOLDER), name: 'node', maxBytes, log, opening });
  }

  /** Writes a message to disk; returns its number. */
  message(m: NodeMessage): number {
    this.number++;
    this.segments.append(`${JSON.stringify({ r: 'node.msg', n: this.number, m })}\n`);
    this.segments.flush();
    return this.number;
  }

  /** Writes the outcome of the message `n`. */
  step(n: number, s: string, o: readonly NodeOrder[]): void {
    this.segments.append(`${JSON.stringify({ r: 'node.step', n, s, o })}\n`);
    this.segments.flush();
    this.segments.rotateIfDue();
  }

  /** Notes that the machine threw on the message `n`. */
  fault(n: number, error: string): void {
    this.segments.append(`${JSON.stringify({ r: 'node.fault', n, error })}\n`);
    this.segments.flush();
  }

  close(): void {
    this.segments.close();
  }

  private opening(seq: number): string {
    const { agent, nodeName } = this.config;
    const { value, context } = this.place();
    return `${JSON.stringify({ r: 'node.segment', v: JOURNAL_VERSION, at: Date.now(), seq, agent, nodeName, value, context })}\n`;
  }
}
