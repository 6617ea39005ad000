import { NO_ORPHANS, stepOrphans } from '../../../machines/housekeeping/orphans-machine.ts';
import type { OrphanMessage, OrphanOrder, Orphans, Remains } from '../../../machines/housekeeping/orphans-machine.ts';
import { SingleMachine } from '../../record/host/single-machine.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import { housekeeping } from '../../record/machines/housekeeping.ts';
import type { Clock } from '../time/clock.ts';

/** Why something could not be removed. */
export interface Stays {
  text: string;
  /** Logs it; called when it is news. */
  tell: () => void;
}

/** What rounds work with. */
export interface OrphanRoundsOptions {
  clock: Pick<Clock, 'now' | 'steady'>;
  /** A pod of this UID has an actor, or the runtime still holds something of it. */
  alive: (uid: string) => boolean;
  /** Where messages are journaled; absent with `--no-journal`. */
  journal?: JournalSettings;
}

/** Hosts the machine that says which remains of pods are removed when; what is found and removed, and how, its callers know. */
export class OrphanRounds {
  private readonly options: OrphanRoundsOptions;
  private readonly machine: SingleMachine<Orphans, OrphanMessage, OrphanOrder>;

  constructor(options: OrphanRoundsOptions) {
    this.options = options;
    this.machine = new SingleMachine(housekeeping, NO_ORPHANS, options.journal ?? null);
  }

  /**
   * One round over all remains of a kind: removes what is due, one after the other. What fails for one pod holds up no other.
   *
   * @param owners UIDs of the pods that something is left of, living ones too
   * @param remove null: it is gone
   * @returns how many had no owner, and how many of those are left
   */
  async round(
    what: Remains,
    owners: Iterable<string>,
    remove: (uid: string) => Promise<Stays | null>,
  ): Promise<{ found: number; left: number }> {
    const uids = [...owners].filter((uid) => !this.options.alive(uid));
    const orders = this.take({ type: 'orphans.found', ...this.times(), what, uids });
    let left = uids.length - orders.length;
    for (const { uid } of orders) {
      // It may have come to life while another one was removed.
      if (this.options.alive(uid)) continue;
      const why = await remove(uid);
      if (why === null) continue;
      left++;
      const news = this.take({ type: 'orphan.stays', ...this.times(), what, uid, text: why.text });
      if (news.length > 0) why.tell();
    }
    return { found: uids.length, left };
  }

  close(): void {
    this.machine.close();
  }

  private times(): { at: number; steady: number } {
    const { now, steady } = this.options.clock;
    return { at: now(), steady: steady() };
  }

  /** A round of which nothing follows stands nowhere: there is one every two seconds. */
  private take(message: OrphanMessage): OrphanOrder[] {
    const { state, outputs } = stepOrphans(this.machine.state, message);
    return state === this.machine.state && outputs.length === 0 ? outputs : this.machine.take(message);
  }
}
