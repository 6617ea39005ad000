import { z } from 'zod';

const text = z.string();
const optionalText = text.optional();

/** `AuthInfo.exec` of a kubeconfig (client.authentication.k8s.io, KEP-541). */
const execSchema = z.looseObject({
  apiVersion: z.enum(['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1']),
  command: text.min(1),
  args: z.array(text).nullish(),
  env: z.array(z.looseObject({ name: text.min(1), value: text })).nullish(),
  installHint: optionalText,
  provideClusterInfo: z.boolean().optional(),
  interactiveMode: z.enum(['Never', 'IfAvailable', 'Always']).optional(),
});

/** `Cluster` of a kubeconfig. */
export const clusterSchema = z.looseObject({
  server: text.min(1),
  'certificate-authority': optionalText,
  'certificate-authority-data': optionalText,
  'insecure-skip-tls-verify': z.boolean().optional(),
  'tls-server-name': optionalText,
  'proxy-url': optionalText,
  extensions: z.array(z.looseObject({ name: text, extension: z.unknown() })).nullish(),
});

/** `AuthInfo` of a kubeconfig. */
export const userSchema = z.looseObject({
  'client-certificate': optionalText,
  'client-certificate-data': optionalText,
  'client-key': optionalText,
  'client-key-data': optionalText,
  token: optionalText,
  tokenFile: optionalText,
  username: optionalText,
  password: optionalText,
  exec: execSchema.nullish(),
});

/**
 * A kubeconfig (`k8s.io/client-go/tools/clientcmd/api/v1`), as far as a client reads it. Entries that the current
 * context does not name are looked at by name only, as client-go tolerates anything in them.
 */
export const kubeconfigSchema = z.looseObject({
  apiVersion: z.literal('v1').optional(),
  kind: z.literal('Config').optional(),
  'current-context': text.min(1),
  clusters: z.array(z.looseObject({ name: text, cluster: z.unknown() })),
  contexts: z.array(
    z.looseObject({
      name: text,
      context: z.looseObject({ cluster: text, user: optionalText, namespace: optionalText }),
    }),
  ),
  users: z.array(z.looseObject({ name: text, user: z.unknown() })).nullish(),
});

export type ClusterEntry = z.infer<typeof clusterSchema>;
export type UserEntry = z.infer<typeof userSchema>;
export type ExecEntry = z.infer<typeof execSchema>;
/** The first thing that is wrong: where, what is there (never a value, it might be a secret), what would be right. */
export interface FieldFault {
  path: string;
  got: string;
  accepted: string;
}

/** Describes a failed check in words, without showing values. */
export function faultOf(error: z.ZodError, input: unknown, under = ''): FieldFault {
  const issue = error.issues[0];
  if (issue === undefined) return { path: under, got: 'something else', accepted: 'see the Kubernetes documentation' };
  let path = under;
  let value: unknown = input;
  for (const key of issue.path) {
    path += typeof key === 'number' ? `[${String(key)}]` : `${path === '' ? '' : '.'}${String(key)}`;
    value = typeof value === 'object' && value !== null ? (value as Record<PropertyKey, unknown>)[key] : undefined;
  }
  return { path: path === '' ? '(the whole document)' : path, got: kindOf(value), accepted: acceptedBy(issue) };
}

function acceptedBy(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return (
        { string: 'a text', array: 'a list', object: 'an object', boolean: 'true or false' }[
          issue.expected as string
        ] ?? issue.expected
      );
    case 'invalid_value':
      return issue.values.map((value) => JSON.stringify(value)).join(', ');
    case 'too_small':
      return 'a text that is not empty';
    default:
      return issue.message;
  }
}

/** The kind of a value, in words; says nothing of its content. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (value === '') return 'an empty text';
  if (Array.isArray(value)) return 'a list';
  return (
    { string: 'another text', number: 'a number', boolean: 'a boolean', object: 'an object' }[typeof value as string] ??
    typeof value
  );
}
