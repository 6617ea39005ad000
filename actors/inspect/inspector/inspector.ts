import { NODE_UID } from '../../../machines/node/node-context.ts';
import type { Chart } from '../../../machines/charts/chart.ts';
import { chartOf } from '../../../machines/charts/chart-of.ts';
import { NODE_MACHINES } from '../../../machines/charts/node-machines.ts';
import type { About, Overview, PodLine, StepDetail, StepPage } from './inspector-api.ts';
import { JournalFollower } from './journal-follower.ts';
import { JournalIndex } from './journal-index.ts';
import { overviewOf } from './node-overview/overview.ts';
import { SINGLES } from '../../record/machines/registry.ts';
import { shownNode, shownPod, shownSingle } from './shown-machine.ts';
import type { PodEntry } from './pod-entry.ts';
import { visibleSteps } from './pod-entry.ts';
import { MachineReplay } from './machine-replay.ts';
import { SegmentStore } from './segment-store.ts';
import { recordedStep, stepLine, stepPage } from './step-reader.ts';

/** What an inspector looks at: the journal folder of a running agent, or files. */
export type InspectorSource = { mode: 'live'; dir: string } | { mode: 'files'; paths: readonly string[] };

/** What has changed since the last time. */
export interface Changes {
  pods: readonly PodLine[];
  /** UIDs of pods of which nothing is left. */
  lost: readonly string[];
  /** The node itself, when something of it has changed. */
  node: PodLine | null;
  /** The other machines that there is one of, as far as something of them has changed. */
  machines: readonly PodLine[];
}

/** A pod with so many steps is replayed to its end when its steps are first asked for. */
const WARM_FROM = 500;

/** Answers what the page asks, out of a journal. Knows nothing of HTTP. */
export class Inspector {
  readonly source: InspectorSource;
  readonly index: JournalIndex;
  readonly replay: MachineReplay;
  private readonly follower: JournalFollower;
  private readonly version: string;
  private readonly listeners = new Set<(changes: Changes) => void>();
  private readonly chartList: Chart[] = Object.values(NODE_MACHINES).map((machine) => chartOf(machine));
  private readonly warming = new Set<string>();

  /** @param version of this program; a running agent is of the same */
  constructor(source: InspectorSource, version: string) {
    this.source = source;
    this.version = version;
    this.index = new JournalIndex(new SegmentStore());
    this.follower = new JournalFollower(this.index);
    this.replay = new MachineReplay(this.index);
  }

  /**
   * Reads the files, or what the agent has written since the last call.
   * @throws ActorletError JRN001 when a file that was named cannot be read
   */
  async refresh(): Promise<void> {
    if (this.source.mode === 'live') await this.follower.follow(this.source.dir);
    else await this.follower.readAll(this.source.paths);
    const lost: string[] = [];
    const pods: PodLine[] = [];
    const machines: PodLine[] = [];
    let node: PodLine | null = null;
    for (const uid of this.index.takeChanged()) {
      const entry = this.index.entry(uid);
      if (entry === undefined) continue;
      if (uid === NODE_UID) node = entry.line;
      else if (SINGLES.has(uid)) machines.push(entry.line);
      else pods.push(entry.line);
    }
    for (const uid of this.index.takeLost()) {
      this.replay.forget(uid);
      lost.push(uid);
    }
    if (pods.length > 0 || lost.length > 0 || node !== null || machines.length > 0)
      for (const listener of this.listeners) listener({ pods, lost, node, machines });
  }

  /** Tells changes until the function that it returns is called. */
  onChange(listener: (changes: Changes) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  about(): About {
    const { index } = this;
    return {
      mode: this.source.mode,
      nodeName: index.nodeName,
      version: this.source.mode === 'live' ? this.version : index.agent,
      from: index.from,
      to: index.to,
      charts: this.chartList,
      damages: [...this.follower.damages],
    };
  }

  charts(): Chart[] {
    return this.chartList;
  }

  /** Pods that nothing is known of but their UID (their first message is just being written) are left out. */
  pods(): PodLine[] {
    return [...this.index.pods.values()].map(({ line }) => line).filter(({ name }) => name !== '');
  }

  /** The node itself; null when the journals have no log of it. */
  node(): PodLine | null {
    return this.index.entry(NODE_UID)?.line ?? null;
  }

  /** The machines that there is one of, but the node, as far as the journals have logs of them. */
  machines(): PodLine[] {
    return this.index.singleEntries().flatMap(({ line }) => (line.uid === NODE_UID ? [] : [line]));
  }

  /** The node with its pods. @param at ms since the epoch; null: the newest moment */
  overview(at: number | null): Promise<Overview> {
    return overviewOf(this.index, this.replay, at, this.source.mode === 'live' ? Date.now() : null);
  }

  /** The pod of this UID, or the node. */
  entry(uid: string): PodEntry | undefined {
    return this.index.entry(uid);
  }

  /** @returns null when there is no such pod */
  steps(uid: string, from: number, limit: number): StepPage | null {
    const entry = this.entry(uid);
    if (entry === undefined) return null;
    if (!SINGLES.has(uid) && entry.steps.end - entry.steps.first >= WARM_FROM) this.warm(entry);
    return stepPage(this.index, entry, from, limit);
  }

  /** @returns null when there is no such pod or step, or its beginning is not in the journal any more */
  async step(uid: string, index: number): Promise<StepDetail | null> {
    const entry = this.entry(uid);
    if (entry === undefined || index >= visibleSteps(entry)) return null;
    const row = entry.steps.row(index);
    const moment = row === undefined ? null : await this.moment(entry, index);
    if (row === undefined || moment === null) return null;
    const reading = this.index.store.reading();
    try {
      const recorded = recordedStep(reading, row);
      if (recorded === null) return null;
      const line = stepLine(this.index, entry, index, row, recorded);
      return { line, message: recorded.message, effects: recorded.effects, ...moment };
    } finally {
      reading.close();
    }
  }

  private async moment(entry: PodEntry, index: number): Promise<ReturnType<typeof shownPod> | null> {
    if (entry.line.uid === NODE_UID) {
      const node = await this.replay.nodeAfter(entry, index);
      return node === null ? null : shownNode(node);
    }
    const machine = SINGLES.get(entry.line.uid);
    if (machine !== undefined) {
      const state = await this.replay.singleAfter(entry, index);
      return state === null ? null : shownSingle(machine, state);
    }
    const snapshot = await this.replay.podAfter(entry, index);
    return snapshot === null ? null : shownPod(snapshot);
  }

  close(): void {
    this.listeners.clear();
    this.follower.close();
    this.index.store.close();
  }

  /** In the background, once: every later step of this pod is then near a place that is known. */
  private warm(entry: PodEntry): void {
    const { uid } = entry.line;
    if (this.warming.has(uid) || this.warming.size > 0) return;
    this.warming.add(uid);
    void this.replay
      .warm(entry)
      .catch(() => undefined)
      .finally(() => this.warming.delete(uid));
  }
}
