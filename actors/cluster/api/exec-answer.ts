import { z } from 'zod';
import { ActorletError } from '../../../machines/errors/define.ts';
import { apiErrors } from '../../../machines/errors/api-errors.ts';
import { faultOf } from './kubeconfig-schema.ts';
import type { Identity } from './credentials.ts';
import type { ExecEntry } from './kubeconfig-schema.ts';

const answerSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.literal('ExecCredential'),
  status: z.looseObject({
    token: z.string().optional(),
    clientCertificateData: z.string().optional(),
    clientKeyData: z.string().optional(),
    expirationTimestamp: z.iso.datetime({ offset: true }).optional(),
  }),
});

/** The plugin that answers; file and program are for messages. */
export interface AskedPlugin {
  where: string;
  command: string;
  /** What the kubeconfig asked for. */
  apiVersion: ExecEntry['apiVersion'];
}

/**
 * Reads what a plugin printed: who we are, and until when (epoch milliseconds, Infinity when it says nothing).
 * @throws ActorletError API error `execBadAnswer`, which names the field and never a value
 */
export function readExecAnswer(asked: AskedPlugin, output: string): { identity: Identity; expiration: number } {
  let json: unknown;
  try {
    json = JSON.parse(output);
  } catch {
    throw badAnswer(asked, '(standard output)', 'no JSON', 'one ExecCredential as JSON');
  }
  const checked = answerSchema.safeParse(json);
  if (!checked.success) {
    const fault = faultOf(checked.error, json);
    throw badAnswer(asked, fault.path, fault.got, fault.accepted);
  }
  const { apiVersion, status } = checked.data;
  if (apiVersion !== asked.apiVersion) {
    throw badAnswer(asked, 'apiVersion', `'${apiVersion}'`, `'${asked.apiVersion}', as in the kubeconfig`);
  }
  const cert = status.clientCertificateData;
  const key = status.clientKeyData;
  if ((cert ?? '') === '' ? (key ?? '') !== '' : (key ?? '') === '') {
    throw badAnswer(asked, 'status', 'one of them', 'clientCertificateData and clientKeyData together');
  }
  const authorization = (status.token ?? '') === '' ? undefined : `Bearer ${status.token ?? ''}`;
  if (authorization === undefined && (cert ?? '') === '') {
    throw badAnswer(asked, 'status', 'neither', 'token, or clientCertificateData and clientKeyData');
  }
  const expiration = status.expirationTimestamp === undefined ? Infinity : Date.parse(status.expirationTimestamp);
  return { identity: { authorization, ...(cert ? { cert, key } : {}) }, expiration };
}

function badAnswer(asked: AskedPlugin, path: string, got: string, accepted: string): ActorletError {
  return new ActorletError(apiErrors.execBadAnswer, {
    command: asked.command,
    where: asked.where,
    path,
    got,
    accepted,
  });
}
