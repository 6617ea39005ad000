import { NOTHING_TOLD } from '../../../machines/status-manager/status-entry.ts';
import type { StatusState } from '../../../machines/status-manager/status-entry.ts';
import { stepStatus } from '../../../machines/status-manager/status-machine.ts';
import type { Finding, StatusMessage, StatusOrder } from '../../../machines/status-manager/status-messages.ts';

/** A request that the machine ordered. */
export type Asked = Extract<StatusOrder, { type: 'status.patch' | 'pod.delete' }>;

/** The status machine with a host that compares at once; what the API lacks of each pod is set by the test. */
export class StatusWorld {
  state: StatusState = NOTHING_TOLD;
  at = 1_000_000;
  /** Many others share the way to the server, and it is full. */
  crowded = false;
  /** All orders so far but `status.compare`, which is answered here. */
  orders: StatusOrder[] = [];
  /** Requests under way. */
  readonly asked = new Map<number, Asked>();
  private readonly findings = new Map<string, Finding>();

  /** What comparing this pod finds from now on. @param lacks the patch's fingerprint; '' = it shows all */
  shows(uid: string, lacks: string, api: Partial<NonNullable<Finding['api']>> | null = {}, minor = false): void {
    const patch = lacks === '' ? null : { print: lacks, minor, fields: ['phase'] };
    const object = api && { deleting: false, ended: false, finalizers: false, ...api };
    this.findings.set(uid, { uid, api: object, patch: object && patch });
  }

  /** What comparing this pod finds now. */
  finding(uid: string): Finding {
    return this.findings.get(uid) ?? { uid, api: null, patch: null };
  }

  send(message: StatusMessage): void {
    // Through JSON, so that nothing but plain JSON can be in it.
    const { state, outputs } = stepStatus(this.state, JSON.parse(JSON.stringify(message)) as StatusMessage);
    this.state = JSON.parse(JSON.stringify(state)) as StatusState;
    for (const order of outputs) {
      if (order.type === 'status.compare') {
        const found = order.uids.map((uid) => this.finding(uid));
        this.send({ type: 'status.compared', at: message.at, found, ...(this.crowded && { crowded: true }) });
        continue;
      }
      this.orders.push(order);
      if (order.type === 'status.patch' || order.type === 'pod.delete') this.asked.set(order.n, order);
    }
  }

  tell(uid: string, state: string, urgency: 'now' | 'mayWait' = 'now', ofApi = true): void {
    this.send({ type: 'status.told', at: this.at, uid, ofApi, state, urgency });
  }

  turn(ms = 0): void {
    this.at += ms;
    this.send({ type: 'status.turn', at: this.at, ...(this.crowded && { crowded: true }) });
  }

  /** The request of this pod is carried out, and shows all but `left`. */
  answer(uid: string, left = ''): void {
    const n = this.takeRequest(uid);
    this.send({ type: 'status.answered', at: this.at, n, left });
  }

  fail(uid: string, why: 'away' | 'refused' | 'gone' | 'stopped', askedMs = 0): void {
    const n = this.takeRequest(uid);
    this.send({ type: 'status.failed', at: this.at, n, why, askedMs, chance: 0.5 });
  }

  /** The orders since the last call, as short words. */
  take(): string[] {
    const words = this.orders.map((order) => {
      if (order.type === 'status.patch') return `patch ${order.uid} ${order.print}`;
      if (order.type === 'status.wake') return `wake ${order.at - this.at}`;
      if (order.type === 'status.complain') return order.loud ? 'complain aloud' : 'complain';
      if (order.type === 'status.measure') return `measure ${order.ms}`;
      return 'uid' in order ? `${order.type} ${order.uid}` : order.type;
    });
    this.orders = [];
    return words;
  }

  private takeRequest(uid: string): number {
    const found = [...this.asked.values()].find((order) => order.uid === uid);
    if (found === undefined) throw new Error(`no request of ${uid} is under way`);
    this.asked.delete(found.n);
    return found.n;
  }
}
