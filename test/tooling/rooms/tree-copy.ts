import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** The checkout that this test belongs to. */
export const checkout = join(import.meta.dirname, '..', '..', '..');

const copied = [
  'machines',
  'cri',
  'actors',
  'bin',
  'package.json',
  'tsconfig.json',
  'eslint.config.js',
  '.dependency-cruiser.cjs',
];

/** A copy of the sources with the real configuration, into which a test may plant offences. */
export class TreeCopy {
  readonly root = mkdtempSync(join(tmpdir(), 'actorlet-rooms-'));

  constructor() {
    for (const name of copied) {
      const from = join(checkout, name);
      if (existsSync(from)) cpSync(from, join(this.root, name), { recursive: true });
    }
    symlinkSync(join(checkout, 'node_modules'), join(this.root, 'node_modules'));
  }

  /** Writes a source file; `path` is relative to the root. */
  plant(path: string, source: string): void {
    const file = join(this.root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, source);
  }

  /** Runs a tool of node_modules in the copy; returns its exit code and what it printed. */
  run(script: string, args: string[]): { code: number | null; stdout: string; stderr: string } {
    return runTool(this.root, script, args);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Runs `node node_modules/<script>` with the Node that runs this test. */
export function runTool(
  cwd: string,
  script: string,
  args: string[],
): { code: number | null; stdout: string; stderr: string } {
  const done = spawnSync(process.execPath, [join(checkout, 'node_modules', script), ...args], {
    cwd,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  return { code: done.status, stdout: done.stdout, stderr: done.stderr };
}
