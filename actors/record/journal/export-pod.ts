import { ActorletError } from '../../../machines/errors/define.ts';
import { journalErrors } from '../../../machines/errors/journal-errors.ts';
import { fingerprint } from '../../../machines/values/fingerprint.ts';
import { memoryOf } from '../../../machines/pod/memory-of.ts';
import type { PodContext, PodSnapshot } from '../../../machines/pod/pod-context.ts';
import { restoredPod } from '../../../machines/pod/pod-step.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import { pods } from '../machines/pods.ts';
import { differenceOf } from './difference.ts';
import { journalLines, parseLine } from './journal-reader.ts';
import { Mask, maskPod } from './mask-spec.ts';
import { Playback } from './playback.ts';
import type { PlayedStep } from './played-step.ts';
import { playMessage } from './played-step.ts';
import type { JournalRecord } from './records.ts';
import { faultText, messageText, snapText, stepText } from './records.ts';
import { SpecBook } from './spec-book.ts';

/**
 * A journal of one pod (`namespace/name` or UID) that tells nothing of its user: environment values, commands, labels and
 * names of other objects are replaced, the same text always by the same. Outcomes are what today's machines make of
 * the replaced messages, so that it replays as identical; an outcome that was recorded otherwise stays as it was recorded
 * (with texts replaced), so that the difference can be seen in the export as well. Throws JRN007, and JRN009 for damaged records.
 */
export async function exportPod(files: readonly string[], pod: string): Promise<string> {
  try {
    return await exported(files, pod);
  } catch (error) {
    if (error instanceof ActorletError) throw error;
    throw new ActorletError(journalErrors.unusable, { pod, problem: String(error) }, { cause: error });
  }
}

async function exported(files: readonly string[], pod: string): Promise<string> {
  const exporter = new PodExport(pod);
  // The whole text is known before anything is replaced: what is secret in a later definition is so in an earlier message.
  for await (const line of journalLines(files)) exporter.look(parseLine(line));
  for await (const line of journalLines(files)) exporter.take(parseLine(line), line.text);
  return exporter.text();
}

type RecordOf<T extends JournalRecord['t']> = Extract<JournalRecord, { t: T }>;

/** Two machines side by side: one plays back what was recorded, one what is exported. */
class PodExport {
  private readonly wanted: string;
  private readonly mask = new Mask();
  private readonly uids = new Set<string>();
  private readonly book = new SpecBook();
  private readonly refer = this.book.refer.bind(this.book);
  private readonly playback = new Playback({ follows: (machine, key) => machine === pods && this.uids.has(key) });
  private readonly twins = new Map<string, PodSnapshot>();
  /** The exported outcome of steps that wait for the recorded one. */
  private readonly open = new Map<PlayedStep, string>();
  private segment: { head: Record<string, unknown>; written: boolean } | null = null;
  private lines: string[] = [];

  constructor(wanted: string) {
    this.wanted = wanted;
  }

  /** First reading: finds the pod, and all that is to be masked. */
  look(record: JournalRecord): void {
    if (record.t === 'segment' && record.settings !== null) {
      const { nodeName, hostname } = record.settings;
      for (const name of [nodeName, hostname]) this.mask.of(name, 'name');
    }
    if (record.t !== 'spec') return;
    this.playback.begin(record);
    const { uid = '', namespace = '', name = '' } = record.pod.metadata ?? {};
    if (uid !== this.wanted && `${namespace}/${name}` !== this.wanted) return;
    this.uids.add(uid);
    maskPod(record.pod, this.mask);
  }

  /** Second reading: writes. */
  take(record: JournalRecord, text: string): void {
    if (!('machine' in record) || record.machine !== pods) return;
    if (record.t === 'segment') {
      this.playback.begin(record);
      this.segment = { head: record.head, written: false };
      this.book.reset();
      return;
    }
    const { settings } = this.playback;
    if (settings === null || !this.uids.has(record.key)) return;
    if (record.t === 'snap') this.snap(record, settings);
    else if (record.t === 'msg') this.message(record, settings);
    else this.outcome(record, text);
  }

  text(): string {
    if (this.lines.length === 0) throw new ActorletError(journalErrors.unknownPod, { pod: this.wanted });
    return this.lines.join('');
  }

  private write(line: string): void {
    if (this.segment !== null && !this.segment.written) {
      this.segment.written = true;
      const { head } = this.segment;
      const settings = this.maskedSettings(head['settings'] as NodeSettings);
      this.lines.push(`${JSON.stringify({ ...head, settings })}\n`);
    }
    this.lines.push(this.book.take() + line);
  }

  private maskedSettings(settings: NodeSettings): NodeSettings {
    const { nodeName, hostname, nodeHosts } = settings;
    return {
      ...settings,
      nodeName: this.mask.of(nodeName, 'name'),
      hostname: this.mask.of(hostname, 'name'),
      ...(nodeHosts !== undefined && { nodeHosts: '' }),
    };
  }

  private snap(record: RecordOf<'snap'>, settings: NodeSettings): void {
    this.playback.begin(record);
    const { key, row } = record;
    const recorded = this.playback.stateOf(pods, key) as PodSnapshot | undefined;
    if (recorded === undefined) throw new Error(`the spec ${String(row['spec'])} is missing`);
    const { source, value, context: raw } = row as { source: string; value: unknown; context: Record<string, unknown> };
    const pod = maskPod(recorded.context.pod, this.mask);
    const context = this.mask.message(raw);
    // What was last told is told again only when it has changed; so it must have been told masked.
    if (printOf(raw, settings) === raw['reported']) context['reported'] = printOf(context, settings);
    const masked = { ...context, pod, settings: this.maskedSettings(settings) } as unknown as PodContext;
    this.twins.set(key, restoredPod(value, masked));
    const { $spec: spec } = this.book.refer(pod);
    this.write(snapText(pods, key, { source, spec, value, context }));
  }

  private message(record: RecordOf<'msg'>, settings: NodeSettings): void {
    const step = this.playback.message(record);
    if (step === null) return;
    const { key, n, raw } = step;
    const message = step.message as PodMessage;
    const masked = this.mask.message(raw) as PodMessage;
    const mine = 'pod' in message ? ({ ...masked, pod: maskPod(message.pod, this.mask) } as PodMessage) : masked;
    const played = playMessage(pods, this.twins.get(key) ?? null, mine, this.maskedSettings(settings));
    if (played === null) return;
    this.twins.set(key, played.after);
    this.write(messageText(pods, n, key, pods.packMessage(mine, this.refer)));
    const { after, outputs, fault } = played;
    const outcome =
      fault === null ? stepText(pods, n, key, pods.stateName(after), outputs) : faultText(pods, n, key, fault);
    this.open.set(step, outcome);
  }

  private outcome(record: RecordOf<'step' | 'fault'>, text: string): void {
    const found = this.playback.outcome(record);
    const own = found === null ? undefined : this.open.get(found.step);
    if (found === null || own === undefined) return;
    this.open.delete(found.step);
    const asExpected = differenceOf(found.step, found.recorded, { file: '', line: 0 }) === null;
    this.write(asExpected ? own : this.otherwise(text));
  }

  /** An outcome that today's machines do not come to, with all texts of its effects masked. */
  private otherwise(text: string): string {
    const record = JSON.parse(text) as { e?: { params: unknown }[] };
    const e = record.e?.map((effect) => ({ ...effect, params: this.mask.everywhere(effect.params) }));
    return `${JSON.stringify({ ...record, ...(e && { e }), ...('error' in record && { error: 'masked' }) })}\n`;
  }
}

/** The fingerprint of the report that a context holds (machines/pod/report.ts). */
function printOf(raw: object, settings: NodeSettings): string {
  const context = { ...raw, settings } as PodContext;
  return fingerprint(JSON.stringify([context.status, context.focus, context.why, memoryOf(context)]));
}
