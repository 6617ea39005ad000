import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import type { OomReport } from '../../../machines/oom/oom-report.ts';
import { isSystemOom, OOM_BEGINS, readOomLine, systemOomMessage } from '../../../machines/oom/oom-report.ts';
import { parseKmsgRecord } from '../../../machines/oom/kmsg-record.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { Clock, Timer } from '../../host/time/clock.ts';
import { KmsgReader } from './kmsg-reader.ts';
import type { KernelLog } from './kmsg-reader.ts';
import type { ToldOoms } from './told-ooms.ts';

const KMSG = '/dev/kmsg';
/** Time from one look at the log to the next, ms. An event that comes a second late is as good. */
const LOOK_MS = 1_000;
/** Records that are read at once; the event loop turns before the next ones are. */
const AT_ONCE = 256;

/** What the watcher is made from. */
export interface OomWatcherOptions {
  clock: Clock;
  log: Logger;
  /** Records an event of the node. */
  record: (event: { type: 'Warning'; reason: 'SystemOOM'; message: string }) => void;
  /** Which ones earlier agents have told. */
  told: ToldOoms;
  /** This process is in a user namespace that is not the machine's. */
  inUserNamespace: boolean;
  /** Gate KubeletInUserNamespace. */
  mayLackLog: boolean;
  /** Opens the kernel's log; throws the errno error of the open. */
  openLog?: () => KernelLog;
}

/**
 * Tells when the machine itself has run out of memory and the kernel has killed a process for it (kubelet's oomWatcher). Processes
 * that are killed because their cgroup has reached its limit are their pods' affair.
 *
 * Kubelet tells all that the log still holds again each time that it starts; here each is told once.
 */
export class OomWatcher {
  private readonly options: OomWatcherOptions;
  private reader: KernelLog | undefined;
  private open: OomReport | null = null;
  private timer: Timer | undefined;
  private turn: NodeJS.Immediate | undefined;

  constructor(options: OomWatcherOptions) {
    this.options = options;
  }

  /** Opens the log and reads what it holds. Without one it says so, once: nothing else depends on it. */
  start(): void {
    const { log, openLog = () => new KmsgReader(KMSG), inUserNamespace, mayLackLog } = this.options;
    try {
      this.reader = openLog();
    } catch (error) {
      const err = new ActorletError(hostErrors.noKernelLog, { path: KMSG, reason: messageOf(error) }, { cause: error });
      if (!inUserNamespace) log.error({ err }, 'Failed to create an oomWatcher');
      else if (mayLackLog) log.info({ v: 2, err }, 'Failed to create an oomWatcher (running in UserNS, ignoring)');
      else
        log.error(
          { err },
          'Failed to create an oomWatcher (running in UserNS, Hint: enable KubeletInUserNamespace feature flag to ignore the error)',
        );
      return;
    }
    this.look();
  }

  stop(): void {
    this.timer?.cancel();
    clearImmediate(this.turn);
    this.reader?.close();
    this.reader = undefined;
  }

  private look(): void {
    for (let n = 0; n < AT_ONCE; n++) {
      const read = this.reader?.read() ?? 'none';
      if (read === 'none') {
        this.timer = this.options.clock.lookAfter(LOOK_MS, () => this.look());
        return;
      }
      if (read === 'lost') continue;
      if ('ended' in read) {
        this.stop();
        const { ended: reason } = read;
        this.options.log.error({ reason }, 'Unexpectedly stopped receiving OOM notifications');
        return;
      }
      this.take(read.record);
    }
    this.turn = setImmediate(() => this.look());
  }

  private take(record: string): void {
    if (this.open === null && !record.includes(OOM_BEGINS)) return;
    const parsed = parseKmsgRecord(record);
    if (parsed === null) return;
    const { open, told } = readOomLine(this.open, parsed.text);
    this.open = open;
    if (told === null || !isSystemOom(told) || !this.options.told.isNew(parsed.sequence)) return;
    const message = systemOomMessage(told);
    this.options.log.info({ v: 1, pid: told.pid, process: told.process }, 'Got sys oom event');
    this.options.record({ type: 'Warning', reason: 'SystemOOM', message });
    this.options.told.tell(parsed.sequence);
  }
}
