import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { parseDockerConfig } from '../../../machines/images/docker-config.ts';
import type { DockerConfig } from '../../../machines/images/docker-config.ts';

/** How long what was read is used. */
const LIFE_MS = 5 * 60_000;

/** Settings of {@link nodeLogins}. */
export interface NodeLoginSettings {
  /** `--root-dir`, the first folder looked at. */
  rootDir: string;
  log: Logger;
  /** The user's home, `os.homedir()` by default. */
  home?: string;
  /** A clock that nobody can set, ms; the machine's, when it is not given. */
  steady?: () => number;
}

/**
 * Logins that all pods of the node may use: the first valid `config.json` of the root folder, the working folder,
 * `~/.docker` and `/.docker`, else the first valid `.dockercfg`. Read at most every five minutes.
 */
export function nodeLogins(settings: NodeLoginSettings): () => Promise<DockerConfig> {
  const { rootDir, log, home, steady = () => performance.now() } = settings;
  const homeDir = home ?? homedir();
  const candidates = [
    ...[rootDir, '.', join(homeDir, '.docker'), '/.docker'].map((dir) => ({ dir, file: 'config.json' })),
    ...[rootDir, '.', homeDir, '/'].map((dir) => ({ dir, file: '.dockercfg' })),
  ];
  let known: DockerConfig | null = null;
  let readAt = 0;
  return async () => {
    if (known !== null && steady() - readAt < LIFE_MS) return known;
    readAt = steady();
    for (const { dir, file } of candidates) {
      const path = resolve(dir, file);
      let text: string;
      try {
        text = await readFile(path, 'utf8');
      } catch {
        continue;
      }
      const parsed = parseDockerConfig(text, file === '.dockercfg');
      if ('logins' in parsed) return (known = parsed.logins);
      log.debug({ path, problem: parsed.fault }, 'Cannot use the file as a docker configuration');
    }
    return (known = {});
  };
}
