import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { HostSettings } from '../../../actors/host/files/host-settings.ts';
import { unmountBelow } from '../../../actors/host/files/mounts.ts';
import { hostEffects } from '../../../actors/host/effects/host-effects.ts';
import type { ContainerPreparation, VolumeOwner } from '../../../machines/protocol/effects.ts';
import type { Ask, AskCatalog, ObjectContent } from '../../../machines/protocol/ask.ts';

/** UID of the pod of these tests. */
export const POD = 'f00d-1';
/** Its owner facts. */
export const OWNER: VolumeOwner = { namespace: 'shop', name: 'web', serviceAccount: 'clerk' };

/** A root directory of our own; whatever a failed test leaves mounted below it goes first. */
export async function withRoot(
  use: (at: { settings: HostSettings; pod: string; root: string }) => Promise<void>,
): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'actorlet-volumes-'));
  const settings: HostSettings = {
    rootDir: join(root, 'kubelet'),
    podLogsDir: join(root, 'pods'),
    containerLogsDir: join(root, 'containers'),
    cgroupVersion: 1,
    cgroupDriver: 'cgroupfs',
    log: pino({ level: 'silent' }),
  };
  try {
    await use({ settings, pod: join(settings.rootDir, 'pods', POD), root });
  } finally {
    await unmountBelow(root);
    await rm(root, { recursive: true, force: true });
  }
}

/** Has one `subPath` of a container made safe; where it is bound. */
export async function prepareSub(
  settings: HostSettings,
  root: string,
  sub: ContainerPreparation['subPaths'][number],
): Promise<string> {
  const { subPaths } = await hostEffects['host.PrepareContainer'](
    {
      podUid: POD,
      containerName: 'app',
      logDirectory: join(root, 'logs'),
      containerLogDirectory: join(root, 'logs/app'),
      terminationLogPath: '',
      subPaths: [sub],
    },
    settings,
  );
  return subPaths[sub.key] ?? '';
}

/** Permission bits of what `path` leads to. */
export async function mode(path: string): Promise<number> {
  return (await stat(path)).mode & 0o7777;
}

/** A main thread with the objects of one namespace (`configMap/name`, `secret/name`) and tokens that name their audience. */
export class AskedObjects {
  readonly objects = new Map<string, ObjectContent>();
  readonly asked: string[] = [];
  token = 1;
  /** Answers wait for it. */
  gate: Promise<void> = Promise.resolve();

  put(key: string, data: Record<string, string>, binaryData: Record<string, string> = {}): void {
    this.objects.set(key, { data, binaryData, type: '' });
  }

  readonly ask: Ask = async <T extends keyof AskCatalog>(what: T, params: AskCatalog[T]['params']) => {
    const answer = this.answer(what, params);
    await this.gate;
    return answer as AskCatalog[T]['result'];
  };

  private answer(what: keyof AskCatalog, params: object): object {
    this.asked.push(`${what} ${Object.values(params).join(' ')}`);
    if (what === 'token.Get') return { token: `token ${this.token} for ${Object.values(params).join(' ')}` };
    const { kind, name } = params as AskCatalog['object.Get']['params'];
    return { found: this.objects.get(`${kind}/${name}`) ?? null };
  }
}
