import { podState } from '../../../machines/pod/pod-step.ts';
import type { Fact } from '../world/facts.ts';

/** A fact in one line, for somebody who reads what happened; null for what only fills the page. */
export function traceLine(fact: Fact, at: number): string | null {
  const text = factText(fact);
  return text === null ? null : `${(at / 1000).toFixed(3).padStart(9)} ${text}`;
}

function factText(fact: Fact): string | null {
  switch (fact.f) {
    case 'container': {
      const { id, metadata, sandbox } = fact.record;
      return `${fact.uid} container ${metadata.name}#${metadata.attempt} ${id.slice(0, 8)} in ${sandbox.id.slice(0, 8)} ${fact.change}`;
    }
    case 'sandbox':
      return `${fact.uid} sandbox ${fact.record.id.slice(0, 8)} ${fact.change}`;
    case 'call':
      return `${fact.uid} call ${fact.rpc}`;
    case 'devices':
      return `devices ${fact.ids.join()} of ${fact.resource} made ready`;
    case 'claim':
      return `claim ${fact.claim} ${fact.change} by ${fact.driver}`;
    case 'pull':
      return `pull of ${fact.right} ${fact.change}`;
    case 'effect':
      return `${fact.uid} effect ${fact.effect.type} ${fact.effect.key}`;
    case 'step': {
      const [before, after] = [podState(fact.before), podState(fact.after)];
      const { type } = fact.message;
      const about = 'key' in fact.message ? ` ${fact.message.key}` : '';
      return `${fact.uid} step ${type}${about}: ${before === after ? after : `${before} -> ${after}`}`;
    }
    case 'report': {
      const { state, status } = fact.report;
      const each = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
      const containers = each.map(({ name, state: is, restartCount }) => {
        const [how = 'nothing', what] = Object.entries(is ?? {}).find(([, value]) => value !== undefined) ?? [];
        return `${name}=${how}${what !== undefined && 'reason' in what ? `:${String(what.reason)}` : ''}*${restartCount}`;
      });
      return `${fact.uid} report ${state} ${status.phase ?? ''} ${containers.join(' ')}`;
    }
    case 'finished':
      return `${fact.uid} finished`;
    case 'host':
      return `${fact.uid} host ${fact.effect}`;
    case 'api':
      return `${fact.pod.metadata?.uid ?? ''} API ${fact.type} ${fact.pod.metadata?.name ?? ''} ${fact.pod.status?.phase ?? ''}${fact.pod.metadata?.deletionTimestamp === undefined ? '' : ' deleting'}`;
    case 'change':
      return `${fact.uid} change ${fact.what} ${fact.container}`;
    case 'logind':
      return `logind ${fact.change}`;
    case 'usage':
      return null;
    case 'csi': {
      const who = fact.change === 'answered' ? ` ${fact.code}` : '';
      return `csi ${fact.driver}#${fact.n} ${fact.change}${who} ${fact.call} ${fact.handle} ${fact.path.slice(-60)}`;
    }
    case 'attachment':
      return `attachment of ${fact.handle} ${fact.change}`;
    case 'boot':
      return 'the machine has gone down';
    case 'agent':
      return `agent ${fact.change}`;
    case 'worker':
      return `worker ${fact.shard} ${fact.change}`;
  }
}
