import { createHash } from 'node:crypto';
import { accessSync, constants, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { ActorletError } from '../../../machines/errors/define.ts';
import { imageErrors } from '../../../machines/errors/image-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { parseGoDuration } from '../../../machines/values/go-duration.ts';
import { KUBERNETES_YAML } from '../../configure/configuration/kubernetes-yaml.ts';
import { isQualifiedName } from '../../configure/configuration/kubernetes-names.ts';

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
  /** It is given a token of the pod's service account (KEP-4412). */
  tokenAttributes?: TokenAttributes;
}

/** Which token a plugin gets, and what its answer is for. */
export interface TokenAttributes {
  audience: string;
  /** What a plugin answers is kept for all pods of the service account, or for the token alone. */
  cacheType: 'ServiceAccount' | 'Token';
  /** The plugin is not asked for pods without a service account. */
  requireServiceAccount: boolean;
  /** Annotations of the service account that the plugin is told; without a required one it is not asked. */
  requiredAnnotationKeys: string[];
  optionalAnnotationKeys: string[];
}

const versions = (group: string) => ['v1', 'v1beta1', 'v1alpha1'].map((version) => `${group}/${version}`);

const cacheDuration = z.string({ error: 'a duration such as "12h" is required' }).transform((text, context) => {
  const ms = parseGoDuration(text);
  if (ms !== undefined && ms >= 0) return ms;
  context.addIssue({ code: 'custom', message: `"${text}" is no duration of zero or more, such as "12h"` });
  return z.NEVER;
});

const annotationKeys = z
  .array(
    z.string().refine((key) => isQualifiedName(key.toLowerCase()), { error: 'a key of an annotation is required' }),
  )
  .refine((keys) => new Set(keys).size === keys.length, { error: 'a key stands here twice' })
  .nullish();

const tokenAttributes = z
  .strictObject({
    serviceAccountTokenAudience: z
      .string({ error: 'an audience is required' })
      .min(1, { error: 'an audience is required' }),
    cacheType: z.enum(['ServiceAccount', 'Token'], {
      error:
        'cacheType is required to be set when tokenAttributes is specified. Supported values are: ServiceAccount, Token',
    }),
    requireServiceAccount: z.boolean({ error: 'true or false is required' }),
    requiredServiceAccountAnnotationKeys: annotationKeys,
    optionalServiceAccountAnnotationKeys: annotationKeys,
  })
  .transform((given, context): TokenAttributes => {
    const required = given.requiredServiceAccountAnnotationKeys ?? [];
    const optional = given.optionalServiceAccountAnnotationKeys ?? [];
    const wrong = (message: string) => context.addIssue({ code: 'custom', message });
    if (!given.requireServiceAccount && required.length > 0)
      wrong('requireServiceAccount cannot be false when requiredServiceAccountAnnotationKeys is set');
    if (required.some((key) => optional.includes(key))) wrong('annotation keys cannot be both required and optional');
    return {
      audience: given.serviceAccountTokenAudience,
      cacheType: given.cacheType,
      requireServiceAccount: given.requireServiceAccount,
      requiredAnnotationKeys: required,
      optionalAnnotationKeys: optional,
    };
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
  tokenAttributes: tokenAttributes.nullish(),
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
 * their names. Each program must be in `binDir`. `serviceAccountTokens`: gate KubeletServiceAccountTokenForCredentialProviders.
 * `hash` is kubelet's of what was read, `sha256:...`.
 * @throws ActorletError IMG002, IMG003, IMG004
 */
export function loadProviderConfig(
  path: string,
  binDir: string,
  serviceAccountTokens = true,
): { providers: ProviderConfig[]; hash: string } {
  const providers: ProviderConfig[] = [];
  const hash = createHash('sha256');
  for (const file of filesOf(path)) {
    const content = readContent(file);
    // With its length before it, so that no two configurations have one hash.
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(content.length));
    hash.update(length).update(content);
    for (const read of providersIn(file, content.toString('utf8'))) {
      if (providers.some(({ name }) => name === read.name))
        throw invalid(file, `duplicate provider name "${read.name}" found in configuration file(s)`);
      if (read.tokenAttributes != null) assertTokens(file, read.apiVersion, serviceAccountTokens);
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
        ...(read.tokenAttributes != null && { tokenAttributes: read.tokenAttributes }),
      });
    }
  }
  return { providers, hash: `sha256:${hash.digest('hex')}` };
}

/** Tokens need a gate, and a version of the question that has a field for them. */
function assertTokens(file: string, apiVersion: string, gate: boolean): void {
  const v1 = 'credentialprovider.kubelet.k8s.io/v1';
  if (!gate)
    throw invalid(
      file,
      'tokenAttributes is not supported when KubeletServiceAccountTokenForCredentialProviders feature gate is disabled',
    );
  if (apiVersion !== v1) throw invalid(file, `tokenAttributes is only supported for ${v1} API version`);
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

function readContent(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function providersIn(file: string, text: string): z.output<typeof configuration>['providers'] {
  const document = parseDocument(text, KUBERNETES_YAML);
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
    const reason = messageOf(cause);
    throw new ActorletError(imageErrors.providerMissing, { file: program, reason }, { cause });
  }
}

function unreadable(file: string, cause: unknown): ActorletError {
  const reason = messageOf(cause);
  return new ActorletError(imageErrors.providerConfigUnreadable, { file, reason }, { cause });
}

function invalid(file: string, problem: string): ActorletError {
  return new ActorletError(imageErrors.providerConfigInvalid, { file, problem });
}
