import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ScsiMachine } from '../../../actors/resources/scsi/scsi-ground.ts';

const PROGRAMS = ['iscsiadm.sh', 'multipath.sh'];

/** Folders `dev` and `sys` of a machine with disks of storage networks, and its programs, which are scripts. Loop devices are its disks: needs root. */
export class ScsiWorld {
  readonly dir: string;
  readonly machine: ScsiMachine;
  private readonly loops: string[] = [];

  constructor(dir: string) {
    this.dir = dir;
    const folders = ['ifaces', 'targets', 'luns', 'chap', 'wrong', 'sessions', 'discovery', 'nodes'];
    const ofMachine = ['dev/disk/by-path', 'dev/disk/by-id', 'sys/block', 'sys/class/scsi_host'];
    for (const folder of [...folders, ...ofMachine]) mkdirSync(join(dir, folder), { recursive: true });
    for (const name of PROGRAMS) copyFileSync(join(import.meta.dirname, name), join(dir, name));
    this.put('ifaces/default', 'iface.iscsi_ifacename = default\niface.transport_name = tcp\niface.mtu = <empty>\n');
    const [iscsiadm, multipath] = PROGRAMS.map((name) => join(dir, name));
    this.machine = {
      ...{ dev: join(dir, 'dev'), sys: join(dir, 'sys'), blockdev: 'true', lookMs: 1, letGoMs: 1 },
      ...{ iscsiadm: iscsiadm ?? '', multipath: multipath ?? '' },
    };
  }

  put(path: string, text: string): void {
    writeFileSync(join(this.dir, path), text);
  }

  read(path: string): string {
    return readFileSync(join(this.dir, path), 'utf8');
  }

  has(path: string): boolean {
    return existsSync(join(this.dir, path));
  }

  names(path: string): string[] {
    return this.has(path) ? readdirSync(join(this.dir, path)).sort() : [];
  }

  /** A disk that the machine could have; answers its minor number. */
  disk(): string {
    const image = join(this.dir, `disk-${this.loops.length}`);
    execFileSync('truncate', ['-s', '16M', image]);
    const loop = execFileSync('losetup', ['-f', '--show', image], { encoding: 'utf8' }).trim();
    this.loops.push(loop);
    return loop.slice('/dev/loop'.length);
  }

  /** A target with this many LUNs behind these portals. */
  target(iqn: string, luns: number, ...portals: string[]): void {
    for (const portal of portals) {
      const before = this.has(`targets/${portal}`) ? this.read(`targets/${portal}`) : '';
      this.put(`targets/${portal}`, `${before}${iqn}\n`);
    }
    mkdirSync(join(this.dir, 'luns', iqn));
    for (let lun = 0; lun < luns; lun += 1) this.put(`luns/${iqn}/${lun}`, this.disk());
  }

  /** A disk that is there (`sda`), with udev's links. */
  attached(name: string, minor: string, ...links: string[]): void {
    execFileSync('mknod', [join(this.dir, 'dev', name), 'b', '7', minor]);
    mkdirSync(join(this.dir, 'sys/block', name, 'device'), { recursive: true });
    this.put(`sys/block/${name}/device/delete`, '');
    for (const link of links) symlinkSync(`../../${name}`, join(this.dir, 'dev/disk', link));
  }

  /** A SCSI host that can be told to look for disks. */
  host(number: number): void {
    mkdirSync(join(this.dir, 'sys/class/scsi_host', `host${number}`));
    this.put(`sys/class/scsi_host/host${number}/scan`, '');
  }

  /** A multipath device on these disks. */
  multipath(name: string, minor: string, ...disks: string[]): void {
    for (const disk of disks) mkdirSync(join(this.dir, 'sys/block', name, 'slaves', disk), { recursive: true });
    execFileSync('mknod', [join(this.dir, 'dev', name), 'b', '7', minor]);
  }

  /** Sessions that are signed in: `PORTAL IQN`. */
  get sessions(): string[] {
    const all = this.names('sessions').filter((name) => !name.startsWith('gone-'));
    return all.map((name) => this.read(`sessions/${name}`).trim());
  }

  /** All calls since it was last asked. */
  calls(): string[] {
    if (!this.has('calls')) return [];
    const lines = this.read('calls').trimEnd().split('\n');
    this.put('calls', '');
    return lines.filter((line) => line !== '');
  }

  /** Gives its disks back; nothing of them may be mounted. */
  end(): void {
    for (const loop of this.loops) execFileSync('losetup', ['-d', loop]);
  }
}
