import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { ActorletError } from '../../machines/errors/define.ts';
import { imageErrors } from '../../machines/errors/image-errors.ts';
import { parseDuration } from '../configuration/duration.ts';

/** One credential provider plugin. */
export interface ProviderConfig {
  /** Name and path of the program. */
  name: string;
  path: string;
  /** Locations of registries for which it is asked, with `*` in labels. */
  matchImages: string[];
  defaultCacheMs: number;
  /** `credentialprovider.kubelet.k8s.io/v1` or an older version: what it reads and writes. */
  apiVersion: string;
  args: string[];
  env: Record<string, string>;
}

const versions = (group: string) => ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`);

const cacheDuration = z.string({ error: 'a duration such as "12h" is required' }).transform((text, context) => {
  const ms = parseDuration(text);
  if (ms !== undefined && ms >= 0) return ms;
  context.addIssue({ code: 'custom', message: `"${text}" is no duration of zero or more, such as "12h"` });
  return z.NEVER;
});

const provider = z.strictObject({
  name: z
    .string({ error: 'a string is required' })
    .refine((name) => name !== '' && !/[/ ]/.test(name) && name !== '.' && name !== '..', {
      error: 'a provider name is a file name: not empty, without "/" and spaces, and not "." or ".."',
    }),
  matchImages: z
    .array(z.string(), { error: 'a list of strings is required' })
    .min(1, { error: 'at least 1 item in matchImages is required' }),
  defaultCacheDuration: cacheDuration,
  apiVersion: z.enum(versions('credentialprovider.kubelet.k8s.io') as [string, ...string[]]),
  args: z.array(z.string()).nullish(),
  env: z.array(z.strictObject({ name: z.string(), value: z.string().default('') })).nullish(),
  tokenAttributes: z
    .never({ error: 'service account tokens for plugins are not supported by this agent yet' })
    .optional(),
});

const configuration = z.strictObject({
  apiVersion: z.enum(versions('kubelet.config.k8s.io') as [string, ...string[]]),
  kind: z.literal('CredentialProviderConfig'),
  providers: z
    .array(provider, { error: 'a list is required' })
    .min(1, { error: 'at least 1 item in plugins is required' }),
});

/**
 * Reads `--image-credential-provider-config`: a file, or all .yaml, .yml and .json files of a folder in the order of
 * their names. Each program must be in `binDir`.
 * @throws ActorletError IMG002, IMG003, IMG004
 */
export function loadProviderConfig(path: string, binDir: string): ProviderConfig[] {
  const providers: ProviderConfig[] = [];
  for (const file of filesOf(path)) {
    for (const read of readProviders(file)) {
      if (providers.some(({ name }) => name === read.name))
        throw invalid(file, `duplicate provider name "${read.name}" found in configuration file(s)`);
      const program = join(binDir, read.name);
      assertExecutable(program);
      const { name, matchImages, defaultCacheDuration, apiVersion, args, env } = read;
      providers.push({
        name,
        path: program,
        matchImages,
        defaultCacheMs: defaultCacheDuration,
        apiVersion,
        args: args ?? [],
        env: Object.fromEntries((env ?? []).map((each) => [each.name, each.value])),
      });
    }
  }
  return providers;
}

function filesOf(path: string): string[] {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const names = readdirSync(path, { withFileTypes: true })
      .filter((entry) => !entry.isDirectory() && ['.json', '.yaml', '.yml'].includes(extname(entry.name)))
      .map(({ name }) => name);
    if (names.length > 0) return names.sort().map((name) => join(path, name));
  } catch (cause) {
    throw unreadable(path, cause);
  }
  throw unreadable(path, new Error('the folder holds no .json, .yaml or .yml file'));
}

function readProviders(file: string): z.output<typeof configuration>['providers'] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    throw unreadable(file, cause);
  }
  const document = parseDocument(text);
  const [problem] = document.errors;
  if (problem !== undefined) throw invalid(file, problem.message.trim().split('\n')[0]?.replace(/[.:]$/, '') ?? '');
  const parsed = configuration.safeParse(document.toJS() as unknown);
  if (parsed.success) return parsed.data.providers;
  const issues = parsed.error.issues.map(({ path, message }) => {
    const field = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
    return field === '' ? message : `${field.slice(1)}: ${message}`;
  });
  throw invalid(file, issues.join('; '));
}

function assertExecutable(program: string): void {
  try {
    if (!statSync(program).isFile()) throw new Error('it is no file');
    accessSync(program, constants.X_OK);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ActorletError(imageErrors.providerMissing, { file: program, reason }, { cause });
  }
}

function unreadable(file: string, cause: unknown): ActorletError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ActorletError(imageErrors.providerConfigUnreadable, { file, reason }, { cause });
}

function invalid(file: string, problem: string): ActorletError {
  return new ActorletError(imageErrors.providerConfigInvalid, { file, problem });
}
