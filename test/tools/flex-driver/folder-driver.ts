import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The FlexVolume driver `VENDOR/NAME` of `folder-driver.sh` in a folder of drivers, and what it is told to do wrong. */
export class FolderDriver {
  readonly dir: string;
  private readonly program: string;

  /** Puts it there. */
  constructor(pluginDir: string, vendor: string, name: string) {
    this.dir = join(pluginDir, `${vendor}~${name}`);
    this.program = join(this.dir, name);
    mkdirSync(join(this.dir, 'answers'), { recursive: true });
    copyFileSync(join(import.meta.dirname, 'folder-driver.sh'), this.program);
    chmodSync(this.program, 0o755);
  }

  /** Its calls with their arguments, a line each. */
  get calls(): string[] {
    const path = join(this.dir, 'calls');
    return existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  }

  /** Names of its calls. */
  get did(): string[] {
    return this.calls.map((line) => line.split(' ', 1)[0] ?? '');
  }

  /** What a call prints from now on; null: what it does by itself. */
  answer(call: string, text: string | null, exit = 0): void {
    const path = join(this.dir, 'answers', call);
    if (text === null) rmSync(path, { force: true });
    else writeFileSync(path, text);
    writeFileSync(join(this.dir, `exit.${call}`), String(exit));
  }

  hang(call: string, on: boolean): void {
    const path = join(this.dir, `hang.${call}`);
    if (on) writeFileSync(path, '');
    else rmSync(path, { force: true });
  }

  /** Where a volume's files are. */
  volume(folder: string): string {
    return join(this.dir, 'volumes', folder);
  }

  /** Its program goes. */
  remove(): void {
    rmSync(this.program);
  }
}
