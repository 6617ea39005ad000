import type { EffectCatalog } from '../../../machines/protocol/effects.ts';
import { hostPort } from '../../../machines/values/host-port.ts';
import { LABEL } from '../../../machines/protocol/runtime-labels.ts';
import { containerFacts } from '../../../cri/sim/call-facts.ts';
import { anyMatches, factsMatch } from '../../../cri/sim/glob.ts';
import { nanosToMs } from '../../../cri/sim/nano-clock.ts';
import type { ContainerRecord } from '../../../cri/sim/records.ts';
import { isRunning } from '../../../cri/sim/processes.ts';
import type { SimCore } from '../../../cri/sim/sim-core.ts';
import { HostFailure } from '../../host/files/host-failure.ts';
import type { NetEffectType } from '../../pods/prober/net-effects.ts';
import type { FleetClock } from './fleet-clock.ts';
import type { ProbeRule } from './profile/profile-schema.ts';

type Answer = ProbeRule['answers'][number];

const OK: Answer = { from: 0, status: 200, body: 'ok', takes: 1, hang: false };

/** Who asks, as the key of an effect tells: `probe/<container>/<kind>/<number>`, or a hook. */
interface Asker {
  container: string;
  kind: 'readiness' | 'liveness' | 'startup' | 'hook';
}

/** Answers probes and hooks of a simulated node over a network that is not there, by the profile's rules. */
export class ScriptedNetwork {
  private readonly core: SimCore;
  private readonly rules: readonly ProbeRule[];
  private readonly clock: Pick<FleetClock, 'now' | 'after'>;

  constructor(core: SimCore, rules: readonly ProbeRule[], clock: Pick<FleetClock, 'now' | 'after'>) {
    this.core = core;
    this.rules = rules;
    this.clock = clock;
  }

  /** Carries out an effect of a pod. A rejection has the words that the kubelet's events have. */
  async run(type: NetEffectType, key: string, raw: unknown, podUid: string): Promise<unknown> {
    const params = raw as EffectCatalog['net.HttpGet']['params'];
    const { host, port, timeoutMs } = params;
    const address = hostPort(host, port);
    const asker = askerOf(key);
    const record = this.containerOf(podUid, asker.container);
    const url = `${params.scheme}://${address}${params.path}`;
    const failed = (code: string, text: string): HostFailure =>
      new HostFailure(code, type === 'net.HttpGet' ? `Get ${JSON.stringify(url)}: ${text}` : text);
    const refused = (): HostFailure => failed('ECONNREFUSED', `dial tcp ${address}: connect: connection refused`);
    if (record === undefined) throw refused();
    const answer = this.answerOf(record, asker, type === 'net.HttpGet' ? params.path : '');
    const late = answer.hang || answer.takes > timeoutMs;
    await this.pass(late ? timeoutMs : answer.takes);
    if (late)
      throw failed(
        'DeadlineExceeded',
        type === 'net.HttpGet'
          ? 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
          : `dial tcp ${address}: i/o timeout`,
      );
    if (answer.status === null || !isRunning(record)) throw refused();
    switch (type) {
      case 'net.HttpGet':
        return { status: answer.status, body: answer.body };
      case 'net.TcpConnect':
        return {};
      case 'net.GrpcHealth':
        return { status: answer.status >= 200 && answer.status < 400 ? 'SERVING' : 'NOT_SERVING' };
    }
  }

  private answerOf(record: ContainerRecord, { kind }: Asker, path: string): Answer {
    if (this.rules.length === 0) return OK;
    const facts = containerFacts('', record);
    const rule = this.rules.find(
      (each) =>
        factsMatch(each.match, facts) &&
        (each.kind?.includes(kind) ?? true) &&
        (path === '' || anyMatches(each.path, path)),
    );
    const age = this.clock.now() - nanosToMs(record.startedAt);
    return rule?.answers.findLast(({ from }) => from <= age) ?? OK;
  }

  private pass(ms: number): Promise<void> {
    return new Promise((resolve) => void this.clock.after(ms, resolve));
  }

  /** The running container of that name; any that runs when nobody named one. */
  private containerOf(podUid: string, name: string): ContainerRecord | undefined {
    const filter = { id: '', labelSelector: { [LABEL.podUid]: podUid } };
    for (const record of this.core.containers.select(filter))
      if (isRunning(record) && (name === '' || record.metadata.name === name)) return record;
    return undefined;
  }
}

function askerOf(key: string): Asker {
  const [first = '', container = '', kind = ''] = key.split('/');
  if (first === 'probe' && (kind === 'readiness' || kind === 'liveness' || kind === 'startup'))
    return { container, kind };
  return { container: first === 'container' ? container : '', kind: 'hook' };
}
