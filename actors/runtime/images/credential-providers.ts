import type { Logger } from 'pino';
import type { DockerConfig } from '../../../machines/images/docker-config.ts';
import { parseProviderResponse } from '../../../machines/images/provider-response.ts';
import type { CacheKeyType } from '../../../machines/images/provider-response.ts';
import { matcherFor } from '../../../machines/images/registry-match.ts';
import { parseGoDuration } from '../../../machines/values/go-duration.ts';
import type { OnPluginRun } from '../../record/metrics/plugin-metrics.ts';
import { pluginToken } from './plugin-token.ts';
import type { PluginToken, PullingPod, TokenSources } from './plugin-token.ts';
import type { ProviderConfig } from './provider-config.ts';
import type { ProviderLogins } from './pull-logins.ts';
import { runPlugin } from './run-plugin.ts';

/** Settings of {@link CredentialProviders}. */
export interface CredentialProvidersSettings {
  providers: readonly ProviderConfig[];
  /** For plugins that get a token; undefined on a standalone node. */
  tokens?: () => TokenSources | undefined;
  log: Logger;
  /** Hears of each run of a plugin. */
  onRun?: OnPluginRun;
  /** A clock that nobody can set, ms; the machine's, when it is not given. */
  steady?: () => number;
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

  /**
   * Logins of all plugins that are for this repository, in the order of their configuration; `pod` is who pulls. Never
   * rejects.
   */
  async loginsFor(repository: string, pod: PullingPod | null): Promise<ProviderLogins[]> {
    return Promise.all(
      this.plugins.map(async (plugin) => {
        try {
          return await plugin.loginsFor(repository, pod);
        } catch (err) {
          this.settings.log.error(
            { err, image: repository, ...(pod !== null && { pod: `${pod.namespace}/${pod.name}` }) },
            'Failed getting credential from external registry credential provider',
          );
          return { logins: {} };
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

  async loginsFor(repository: string, pod: PullingPod | null): Promise<ProviderLogins> {
    const { matchImages, tokenAttributes } = this.config;
    if (!matchImages.some(matcherFor(repository))) return { logins: {} };
    const token = await pluginToken(tokenAttributes, pod, this.settings.tokens?.());
    if (token === 'passOver') return { logins: {} };
    const logins = this.keptFor(repository, token) ?? (await this.asked(repository, token));
    return token === null ? { logins } : { logins, serviceAccount: token.account };
  }

  private keptFor(repository: string, token: PluginToken | null): DockerConfig | undefined {
    const now = this.steady();
    for (const [key, { until }] of this.kept) if (now > until) this.kept.delete(key);
    for (const type of ['Image', 'Registry', 'Global'] as const) {
      const found = this.kept.get(keyOf(type, repository, token));
      if (found !== undefined) return found.logins;
    }
    return undefined;
  }

  /** Who asks the same at the same time shares one run of the plugin. */
  private asked(repository: string, token: PluginToken | null): Promise<DockerConfig> {
    const key = JSON.stringify([repository, token?.flightKey ?? '']);
    let running = this.running.get(key);
    if (running === undefined) {
      running = this.ask(repository, token).finally(() => this.running.delete(key));
      this.running.set(key, running);
    }
    return running;
  }

  private async ask(repository: string, token: PluginToken | null): Promise<DockerConfig> {
    const { name, apiVersion, defaultCacheMs, tokenAttributes } = this.config;
    const request = {
      kind: 'CredentialProviderRequest',
      apiVersion,
      image: repository,
      ...(token !== null && { serviceAccountToken: token.token }),
      ...(token !== null &&
        Object.keys(token.annotations).length > 0 && { serviceAccountAnnotations: token.annotations }),
    };
    const stdout = await this.run(repository, JSON.stringify(request));
    const response = parseProviderResponse(stdout, apiVersion);
    if ('fault' in response) throw new Error(`credential provider plugin ${name}: ${response.fault}`);
    const { cacheKeyType, cacheDuration, logins } = response;
    // Kept for the account, it would serve pods that the token was not made for.
    const echoed = token !== null && Object.values(logins).some(({ password }) => password === token.token);
    if (echoed && tokenAttributes?.cacheType !== 'Token')
      throw new Error(
        "credential provider plugin returned the service account token as the password which is not allowed when service account cache type is not set to 'Token'",
      );
    const keepMs = cacheDuration === undefined ? defaultCacheMs : parseGoDuration(cacheDuration);
    if (keepMs === undefined) throw new Error(`credential provider plugin ${name}: cacheDuration is no duration`);
    if (keepMs > 0) this.kept.set(keyOf(cacheKeyType, repository, token), { logins, until: this.steady() + keepMs });
    return logins;
  }

  /** As kubelet an answer that makes no sense is no failed run. */
  private async run(repository: string, request: string): Promise<string> {
    const { onRun, timeoutMs = 60_000 } = this.settings;
    const began = performance.now();
    let failed = true;
    try {
      const stdout = await runPlugin(this.config, repository, request, timeoutMs);
      failed = false;
      return stdout;
    } finally {
      onRun?.(this.config.name, (performance.now() - began) / 1000, failed);
    }
  }

  /** Ms of a clock that nobody can set. */
  private steady(): number {
    return this.settings.steady?.() ?? performance.now();
  }
}

function keyOf(type: CacheKeyType, repository: string, token: PluginToken | null): string {
  return JSON.stringify([heldFor(type, repository), token?.cacheKey ?? '']);
}

function heldFor(type: CacheKeyType, repository: string): string {
  switch (type) {
    case 'Image':
      return repository;
    case 'Registry':
      return repository.split('/')[0] ?? '';
    case 'Global':
      return '<global>';
  }
}
