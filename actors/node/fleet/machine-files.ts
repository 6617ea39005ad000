import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import type { Logger } from 'pino';
import type { Ask } from '../../../machines/protocol/ask.ts';
import type { EffectCatalog, VolumeSetup } from '../../../machines/protocol/effects.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { hostEffects } from '../../host/effects/host-effects.ts';
import type { HostEffectType } from '../../host/effects/host-effects.ts';
import { codeOf, HostFailure, ignoring } from '../../host/files/host-failure.ts';
import type { HostSettings } from '../../host/files/host-settings.ts';
import { unmountBelow } from '../../host/files/mounts.ts';

/** Volumes that are files here: those that the agent makes and fills by itself, and places on the node's disk. */
const KINDS = new Set<VolumeSetup['kind']>(['emptyDir', 'configMap', 'secret', 'projected', 'downwardAPI', 'hostPath']);
/** Anyone may write there, and remove what is theirs. */
const TMP_MODE = 0o1777;
const HOSTS = '127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n';

/** Where a node's own `/etc/hosts` lies, when it has files. @param rootDir the node's own */
export function machineHosts(rootDir: string): string {
  return join(diskOf(rootDir), 'etc/hosts');
}

function diskOf(rootDir: string): string {
  return join(rootDir, 'hosts');
}

type Params<T extends HostEffectType> = EffectCatalog[T]['params'];
type Result<T extends HostEffectType> = EffectCatalog[T]['result'];

/**
 * The files of a simulated machine as real ones below its root directory, where the profile wants that (`files`): volumes, subPaths,
 * `/etc/hosts` and termination messages, made by the very executors that an agent on a machine has. Its own disk, at which hostPath
 * volumes look, is a folder with nothing but an empty `/tmp` and an `/etc/hosts` in it.
 */
export class MachineFiles {
  private readonly rootDir: string;
  private readonly log: Logger;
  private used = false;

  /** @param rootDir the node's own */
  constructor(rootDir: string, log: Logger) {
    this.rootDir = rootDir;
    this.log = log;
  }

  /** Sets up those of the volumes that can be files here; the answer has no path for others. */
  async setUp(params: Params<'host.SetUpVolumes'>, ask: Ask): Promise<Result<'host.SetUpVolumes'>> {
    this.used = true;
    const volumes = params.volumes.filter(({ kind }) => KINDS.has(kind)).map((volume) => this.onOwnDisk(volume));
    await this.makePlaces(volumes);
    try {
      return await hostEffects['host.SetUpVolumes']({ ...params, volumes }, this.settings(ask));
    } catch (error) {
      // A pod is told of the place as its spec has it.
      throw new HostFailure(codeOf(error), messageOf(error).replaceAll(this.disk, ''), { cause: error });
    }
  }

  /** What must be there before a container is made, as on a machine. */
  async prepare(params: Params<'host.PrepareContainer'>, ask: Ask): Promise<Result<'host.PrepareContainer'>> {
    this.used = true;
    if (params.hostsFile?.nodes !== undefined) await this.makeDisk();
    return hostEffects['host.PrepareContainer'](params, this.settings(ask));
  }

  /** The end of the file that a container left its message in. */
  async terminationMessage(params: Params<'host.ReadTerminationMessage'>, ask: Ask): Promise<string> {
    return (await hostEffects['host.ReadTerminationMessage'](params, this.settings(ask))).message;
  }

  async tearDown(params: Params<'host.TearDownPod'>, ask: Ask): Promise<void> {
    await hostEffects['host.TearDownPod'](params, this.settings(ask));
  }

  /** The power is off: nothing is mounted, and what was in memory is gone. Never rejects. */
  async unmount(): Promise<void> {
    if (this.used) await this.tried('unmount volumes', unmountBelow(this.pods));
  }

  /** The machine is given up with all that is on it. Never rejects. */
  async remove(): Promise<void> {
    if (!this.used) return;
    await this.unmount();
    for (const folder of [this.pods, this.disk])
      await this.tried(`remove ${folder}`, rm(folder, { recursive: true, force: true }));
  }

  /** Whoever takes a machine away has others to take away, too. */
  private tried(what: string, work: Promise<void>): Promise<void> {
    return work.catch((error: unknown) => this.log.error({ err: messageOf(error) }, `Failed to ${what} of a machine`));
  }

  private get pods(): string {
    return join(this.rootDir, 'pods');
  }

  private get disk(): string {
    return diskOf(this.rootDir);
  }

  /** Never a path of this machine. */
  private onOwnDisk(volume: VolumeSetup): VolumeSetup {
    return volume.kind === 'hostPath'
      ? { ...volume, path: join(this.disk, normalize(join('/', volume.path))) }
      : volume;
  }

  /** The folders that nobody asked to be there and that a runtime makes when it is to bind them. */
  private async makePlaces(volumes: readonly VolumeSetup[]): Promise<void> {
    const places = volumes.filter((volume) => volume.kind === 'hostPath');
    if (places.length === 0) return;
    await this.makeDisk();
    for (const { path, type } of places) if (type === '') await ignoring(mkdir(path, { recursive: true }), 'EEXIST');
  }

  private async makeDisk(): Promise<void> {
    const hosts = machineHosts(this.rootDir);
    await mkdir(dirname(hosts), { recursive: true });
    await ignoring(writeFile(hosts, HOSTS, { flag: 'wx' }), 'EEXIST');
    const tmp = join(this.disk, 'tmp');
    if ((await mkdir(tmp, { recursive: true })) !== undefined) await chmod(tmp, TMP_MODE);
  }

  private settings(ask: Ask): HostSettings {
    const { rootDir, log } = this;
    // The rest is for effects on cgroups and on links to logs, which are not carried out here.
    const unasked = { podLogsDir: '', containerLogsDir: '', cgroupVersion: 2, cgroupDriver: 'cgroupfs' } as const;
    return { rootDir, log, ask, ...unasked };
  }
}
