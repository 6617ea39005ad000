import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { unmountBelow } from '../../../actors/host/files/mounts.ts';
import { readMounts } from '../../../actors/host/files/mountinfo.ts';
import type { ScsiGround } from '../../../actors/resources/scsi/scsi-ground.ts';
import type {
  PublishCall,
  StageCall,
  VolumePlugin,
  VolumeSpec,
} from '../../../actors/resources/volumes/volume-plugin.ts';
import type { ObjectContent } from '../../../machines/protocol/ask.ts';
import type { PersistentVolume } from '../../../machines/protocol/storage-types.ts';
import { ScsiWorld } from '../../tools/scsi-machine/scsi-machine.ts';
import { withRoot } from './with-root.ts';

/** The tests need devices and mounts. */
export const skip = process.getuid?.() !== 0;
export const IQN = 'iqn.2026-11.com.example:disks';
export const PORTAL = '10.0.0.1:3260';

/** A machine with disks of storage networks, kubelet's root directory, and secrets of an API server. */
export interface ScsiBench {
  root: string;
  rootDir: string;
  world: ScsiWorld;
  ground: ScsiGround;
  secrets: Map<string, Record<string, string>>;
  /** All that was logged. */
  logged: string[];
}

/** Makes one; nothing of it is left afterwards. */
export async function withScsi(use: (bench: ScsiBench) => Promise<void>): Promise<void> {
  await withRoot(async ({ root, settings: { rootDir } }) => {
    const dir = join(root, 'machine');
    mkdirSync(dir);
    const world = new ScsiWorld(dir);
    const secrets = new Map<string, Record<string, string>>();
    const secret = (namespace: string, name: string): Promise<ObjectContent> => {
      const data = secrets.get(`${namespace}/${name}`);
      if (data === undefined) return Promise.reject(new Error(`secrets "${name}" not found`));
      return Promise.resolve({ type: 'kubernetes.io/iscsi-chap', data, binaryData: {} });
    };
    const logged: string[] = [];
    const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
    try {
      await use({
        ...{ root, rootDir, world, secrets, logged },
        ground: { rootDir, attachable: true, secret, log, machine: world.machine },
      });
    } finally {
      await unmountBelow(root);
      world.end();
    }
  });
}

/** An inline volume `v`, read-only when its source is. */
export function inline(source: { iscsi: object } | { fc: object }): VolumeSpec {
  const [its] = Object.values(source) as { readOnly?: boolean }[];
  const volume = { name: 'v', ...source } as VolumeSpec['volume'];
  return { name: 'v', pv: null, claim: null, volume, readOnly: its?.readOnly === true, mode: 'Filesystem' };
}

/** A PV with a claim. */
export function ofPv(
  name: string,
  source: { iscsi: object } | { fc: object },
  mode: VolumeSpec['mode'] = 'Filesystem',
): VolumeSpec {
  const pv = { metadata: { name }, spec: { ...source, volumeMode: mode } } as unknown as PersistentVolume;
  return { name, pv, claim: null, volume: { name: 'v' }, readOnly: false, mode };
}

/** LUN `lun` of the target behind {@link PORTAL}. */
export function lun(number: number, more: object = {}): { iscsi: object } {
  return { iscsi: { targetPortal: PORTAL, iqn: IQN, lun: number, iscsiInterface: 'default', ...more } };
}

/** The calls of the volume manager for one volume of pod `uid`. */
export class VolumeUser {
  readonly plugin: VolumePlugin;
  readonly spec: VolumeSpec;
  readonly signal = new AbortController().signal;
  readonly path: string;
  private readonly uid: string;
  private readonly pod: StageCall['pod'];
  private stagedPath = '';

  constructor(plugin: VolumePlugin, rootDir: string, spec: VolumeSpec, uid = 'u') {
    this.plugin = plugin;
    this.spec = spec;
    this.uid = uid;
    this.pod = { metadata: { name: uid, namespace: 'ns', uid }, spec: { containers: [] } };
    const kind = spec.mode === 'Block' ? 'volumeDevices' : 'volumes';
    this.path = join(rootDir, 'pods', uid, kind, plugin.name.replace('/', '~'), spec.name);
  }

  async stage(signal = this.signal): Promise<string> {
    await this.plugin.deviceName(this.spec, this.pod);
    this.stagedPath = (await this.plugin.stage?.({ spec: this.spec, pod: this.pod, devicePath: '', signal })) ?? '';
    return this.stagedPath;
  }

  publish(more: Partial<PublishCall> = {}): Promise<string> {
    const { spec, pod, path, stagedPath, signal, uid } = this;
    const call = { spec, pod, path, stagedPath, devicePath: '', again: false, signal, ownership: { podUid: uid } };
    return this.plugin.publish({ ...call, ...more });
  }

  unpublish(): Promise<void> {
    const { uid: podUid, path, signal } = this;
    return this.plugin.unpublish({ podUid, name: this.spec.name, mode: this.spec.mode, path, signal });
  }

  async unstage(stagedPath = this.stagedPath): Promise<void> {
    const { spec, pod, signal } = this;
    const deviceName = await this.plugin.deviceName(spec, pod);
    await this.plugin.unstage?.({ deviceName, name: spec.name, mode: spec.mode, stagedPath, signal });
  }
}

/** The text of a failure with the words of what failed, if it names that. */
export async function words(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'it worked';
  } catch (error) {
    const { what, message } = error as { what?: string | null; message: string };
    return what ? `${what}: ${message}` : message;
  }
}

/** Options of what is mounted there, in the mount and in the file system; [] when nothing is. */
export async function mountedAt(path: string): Promise<string[]> {
  const found = (await readMounts()).filter(({ mountPoint }) => mountPoint === path);
  return found.flatMap(({ fsType, options, superOptions }) => [
    `${fsType} ${options[0] ?? ''} ${superOptions[0] ?? ''}`,
  ]);
}
