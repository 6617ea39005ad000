import { ActorletError } from '../../../machines/errors/define.ts';
import { journalErrors } from '../../../machines/errors/journal-errors.ts';
import { fingerprint } from '../../../machines/values/fingerprint.ts';
import { memoryOf } from '../../../machines/pod/memory-of.ts';
import type { PodContext, PodSnapshot } from '../../../machines/pod/pod-context.ts';
import { bornPod, podState, restoredPod, stepPod } from '../../../machines/pod/pod-step.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import { journalLines, parseLine } from './journal-reader.ts';
import { Mask, maskPod } from './mask-spec.ts';
import { messageText, stepText } from './records.ts';
import { SpecBook } from './spec-book.ts';

/** Two machines side by side: one over what was recorded, one over what is exported. */
interface Twin {
  recorded: PodSnapshot;
  masked: PodSnapshot;
}

/** A step of both that waits for the recorded outcome. */
interface TwinStep {
  recorded: string;
  masked: string;
}

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

class PodExport {
  private readonly wanted: string;
  private readonly mask = new Mask();
  private readonly specs = new Map<string, Pod>();
  private readonly uids = new Set<string>();
  private readonly book = new SpecBook();
  private readonly open = new Map<string, TwinStep>();
  private readonly twins = new Map<string, Twin>();
  private settings: NodeSettings | null = null;
  private segment: { record: Record<string, unknown>; written: boolean } | null = null;
  private lines: string[] = [];

  constructor(wanted: string) {
    this.wanted = wanted;
  }

  /** First reading: finds the pod, and all that is to be masked. */
  look(record: ReturnType<typeof parseLine>): void {
    if (record.r === 'segment') {
      const { nodeName, hostname } = record.settings as unknown as NodeSettings;
      for (const name of [nodeName, hostname]) this.mask.of(name, 'name');
    }
    if (record.r !== 'spec') return;
    const pod = record.pod as Pod;
    this.specs.set(record.id, pod);
    const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
    if (uid !== this.wanted && `${namespace}/${name}` !== this.wanted) return;
    this.uids.add(uid);
    maskPod(pod, this.mask);
  }

  /** Second reading: writes. */
  take(record: ReturnType<typeof parseLine>, text: string): void {
    switch (record.r) {
      case 'segment':
        this.settings = record.settings as unknown as NodeSettings;
        this.segment = { record: JSON.parse(text) as Record<string, unknown>, written: false };
        this.book.reset();
        break;
      case 'snap':
        if (this.uids.has(record.uid)) this.snap(record);
        break;
      case 'msg':
        if (this.uids.has(record.uid)) this.message(record.uid, record.n, record.m);
        break;
      case 'step':
      case 'fault':
        if (this.uids.has(record.uid)) this.outcome(record.uid, record.n, record, text);
        break;
      default:
    }
  }

  text(): string {
    if (this.lines.length === 0) throw new ActorletError(journalErrors.unknownPod, { pod: this.wanted });
    return this.lines.join('');
  }

  private write(line: string): void {
    if (this.segment !== null && !this.segment.written) {
      this.segment.written = true;
      const settings = this.maskedSettings(this.segment.record['settings'] as NodeSettings);
      this.lines.push(`${JSON.stringify({ ...this.segment.record, settings })}\n`);
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

  private pod(id: string): Pod {
    const pod = this.specs.get(id);
    if (pod === undefined) throw new Error(`the spec ${id} is missing`);
    return pod;
  }

  private maskedPod(pod: Pod): Pod {
    return maskPod(pod, this.mask);
  }

  private snap(record: Extract<ReturnType<typeof parseLine>, { r: 'snap' }>): void {
    if (this.settings === null) return;
    const { uid, source, value } = record;
    const pod = this.pod(record.spec);
    const recorded = restoredPod(value, { ...record.context, pod, settings: this.settings } as PodContext);
    const own = this.maskedPod(pod);
    const context = this.mask.message(record.context);
    // What was last told is told again only when it has changed; so it must have been told masked.
    if (printOf(record.context, this.settings) === record.context['reported'])
      context['reported'] = printOf(context, this.settings);
    const settings = this.maskedSettings(this.settings);
    const masked = restoredPod(value, { ...context, pod: own, settings } as PodContext);
    this.twins.set(uid, { recorded, masked });
    const { $spec: spec } = this.book.refer(own);
    this.write(`${JSON.stringify({ r: 'snap', uid, source, spec, value, context })}\n`);
  }

  private message(uid: string, n: number, raw: { type: string; at: number }): void {
    if (this.settings === null) return;
    const reference = (raw as { pod?: { $spec?: string } }).pod?.$spec;
    const pod = reference === undefined ? undefined : this.pod(reference);
    const message = (pod === undefined ? raw : { ...raw, pod }) as unknown as PodMessage;
    const own = pod === undefined ? undefined : this.maskedPod(pod);
    const mine = (own === undefined
      ? this.mask.message(raw)
      : { ...this.mask.message(raw), pod: own }) as unknown as PodMessage;
    let twin = this.twins.get(uid);
    if (message.type === 'pod.start' && mine.type === 'pod.start') {
      const { source } = message;
      twin = {
        recorded: bornPod({ pod: message.pod, source, settings: this.settings }),
        masked: bornPod({ pod: mine.pod, source, settings: this.maskedSettings(this.settings) }),
      };
      this.twins.set(uid, twin);
    }
    if (twin === undefined) return;
    const written = (own === undefined ? mine : { ...mine, pod: this.book.refer(own) }) as Parameters<
      typeof messageText
    >[2];
    this.write(messageText(n, uid, written));
    const recorded = stepped(twin.recorded, message);
    const masked = stepped(twin.masked, mine);
    twin.recorded = recorded.snapshot;
    twin.masked = masked.snapshot;
    this.open.set(`${uid}/${n}`, {
      recorded: recorded.effects === null ? '' : stepText(n, uid, recorded.state, recorded.effects).trimEnd(),
      masked:
        masked.effects === null
          ? `${JSON.stringify({ r: 'fault', n, uid, error: masked.state })}\n`
          : stepText(n, uid, masked.state, masked.effects),
    });
  }

  private outcome(uid: string, n: number, record: { r: 'step' | 'fault' }, text: string): void {
    const step = this.open.get(`${uid}/${n}`);
    this.open.delete(`${uid}/${n}`);
    if (step === undefined) return;
    const asExpected = record.r === 'fault' ? step.recorded === '' : step.recorded === text;
    this.write(asExpected ? step.masked : this.otherwise(text));
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

function stepped(
  snapshot: PodSnapshot,
  message: PodMessage,
): { snapshot: PodSnapshot; state: string; effects: Effect[] | null } {
  try {
    const { snapshot: next, effects } = stepPod(snapshot, message);
    return { snapshot: next, state: podState(next), effects };
  } catch (error) {
    return { snapshot, state: error instanceof Error ? error.message : String(error), effects: null };
  }
}
