import type { Logger } from 'pino';
import type { DockerConfig } from '../../machines/images/docker-config.ts';
import { parseProviderResponse } from '../../machines/images/provider-response.ts';
import type { CacheKeyType } from '../../machines/images/provider-response.ts';
import { locationMatches } from '../../machines/images/registry-match.ts';
import { parseDuration } from '../configuration/duration.ts';
import type { ProviderConfig } from './provider-config.ts';
import { runPlugin } from './run-plugin.ts';

/** Settings of {@link CredentialProviders}. */
export interface CredentialProvidersSettings {
  providers: readonly ProviderConfig[];
  log: Logger;
  now?: () => number;
  /** Longest run of a plugin, one minute by default. */
  timeoutMs?: number;
}

interface Kept {
  logins: DockerConfig;
  until: number;
}

/** Asks credential provider plugins (KEP-2133) for logins, and keeps their answers as long as these say. */
export class CredentialProviders {
  private readonly settings: CredentialProvidersSettings;
  private readonly plugins: Plugin[];

  constructor(settings: CredentialProvidersSettings) {
    this.settings = settings;
    this.plugins = settings.providers.map((config) => new Plugin(config, settings));
  }

  /** Logins of all plugins that are for this repository, in the order of their configuration. Never rejects. */
  async loginsFor(repository: string): Promise<DockerConfig[]> {
    return Promise.all(
      this.plugins.map(async (plugin) => {
        try {
          return await plugin.loginsFor(repository);
        } catch (err) {
          this.settings.log.error(
            { err, image: repository },
            'Failed getting credential from external registry credential provider',
          );
          return {};
        }
      }),
    );
  }
}

class Plugin {
  private readonly config: ProviderConfig;
  private readonly settings: CredentialProvidersSettings;
  private readonly kept = new Map<string, Kept>();
  private readonly running = new Map<string, Promise<DockerConfig>>();

  constructor(config: ProviderConfig, settings: CredentialProvidersSettings) {
    this.config = config;
    this.settings = settings;
  }

  async loginsFor(repository: string): Promise<DockerConfig> {
    if (!this.config.matchImages.some((pattern) => locationMatches(pattern, repository))) return {};
    const now = this.now();
    for (const [key, { until }] of this.kept) if (now > until) this.kept.delete(key);
    for (const type of ['Image', 'Registry', 'Global'] as const) {
      const found = this.kept.get(keyOf(type, repository));
      if (found !== undefined) return found.logins;
    }
    let running = this.running.get(repository);
    if (running === undefined) {
      running = this.ask(repository).finally(() => this.running.delete(repository));
      this.running.set(repository, running);
    }
    return running;
  }

  private async ask(repository: string): Promise<DockerConfig> {
    const { name, apiVersion, defaultCacheMs } = this.config;
    const request = { kind: 'CredentialProviderRequest', apiVersion, image: repository };
    const stdout = await runPlugin(this.config, repository, JSON.stringify(request), this.settings.timeoutMs ?? 60_000);
    const response = parseProviderResponse(stdout, apiVersion);
    if ('fault' in response) throw new Error(`credential provider plugin ${name}: ${response.fault}`);
    const { cacheKeyType, cacheDuration, logins } = response;
    const keepMs = cacheDuration === undefined ? defaultCacheMs : parseDuration(cacheDuration);
    if (keepMs === undefined) throw new Error(`credential provider plugin ${name}: cacheDuration is no duration`);
    if (keepMs > 0) this.kept.set(keyOf(cacheKeyType, repository), { logins, until: this.now() + keepMs });
    return logins;
  }

  private now(): number {
    return this.settings.now?.() ?? Date.now();
  }
}

function keyOf(type: CacheKeyType, repository: string): string {
  switch (type) {
    case 'Image':
      return repository;
    case 'Registry':
      return repository.split('/')[0] ?? '';
    case 'Global':
      return '<global>';
  }
}
