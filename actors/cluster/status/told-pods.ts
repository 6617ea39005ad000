import type { Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import type { PodSource } from '../../../machines/protocol/messages.ts';
import { findingOf, neededPatch } from '../../../machines/status-manager/comparison.ts';
import type { NeededPatch, ToldStatus } from '../../../machines/status-manager/comparison.ts';
import type { Finding } from '../../../machines/status-manager/status-messages.ts';
import type { PodReport } from '../../pods/shard/shard-protocol.ts';
import type { ApiPod, ApiPods } from './api-pods.ts';

/** A pod's newest report, and the pod as its machine was last given it. */
export interface ReportedPod {
  pod: Pod;
  source: PodSource;
  report: PodReport;
}

/** What was told of a pod, and what it was compared with. */
export interface Compared {
  told: ToldStatus;
  /** The API's object; undefined when there is none. */
  api: ApiPod | undefined;
  needed: NeededPatch | null;
  finding: Finding;
}

interface Told extends ToldStatus {
  /** The API's status that was found to show all of this; nothing is to be sent while both stay. */
  shownBy: PodStatus | null;
}

/** What each pod told last: objects that are never changed in place, compared with those of the API. */
export class ToldPods {
  private readonly apiPods: ApiPods;
  private readonly pods = new Map<string, Told>();

  constructor(apiPods: ApiPods) {
    this.apiPods = apiPods;
  }

  /** UIDs of all, oldest first. */
  uids(): Iterable<string> {
    return this.pods.keys();
  }

  has(uid: string): boolean {
    return this.pods.has(uid);
  }

  /** Takes a report. */
  take({ pod, source, report: { uid, status, state } }: ReportedPod): void {
    const ofApi = source === 'api';
    const told = this.pods.get(uid);
    if (told === undefined) {
      this.pods.set(uid, { pod, ofApi, status, state, shownBy: null });
      return;
    }
    const same = told.pod === pod && told.ofApi === ofApi && told.status === status && told.state === state;
    if (!same) Object.assign(told, { pod, ofApi, status, state, shownBy: null });
  }

  delete(uid: string): void {
    this.pods.delete(uid);
  }

  clear(): void {
    this.pods.clear();
  }

  /**
   * Compares what a pod told with what the API shows; null when it told nothing. Time (ms since the epoch) enters a patch only
   * with something that the API does not show yet, so what was alike once stays alike.
   */
  compare(uid: string, at: number): Compared | null {
    const told = this.pods.get(uid);
    if (told === undefined) return null;
    const api = told.ofApi ? this.apiPods.own(uid) : this.apiPods.mirror(uid);
    const alike = api === undefined || told.shownBy === api.status;
    const needed = alike ? null : neededPatch(told, api, at);
    if (api !== undefined && needed === null) told.shownBy = api.status;
    const { pod, ofApi, status, state } = told;
    return { told: { pod, ofApi, status, state }, api, needed, finding: findingOf(uid, api, needed) };
  }

  /** The API's object shows this, as was found when they were compared. */
  noteShown(uid: string, { pod, ofApi, status, state }: ToldStatus, api: ApiPod): void {
    const told = this.pods.get(uid);
    if (told === undefined || told.pod !== pod || told.ofApi !== ofApi) return;
    if (told.status === status && told.state === state) told.shownBy = api.status;
  }
}
