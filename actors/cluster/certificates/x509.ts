import { fork } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { extname } from 'node:path';
import { ActorletError } from '../../../machines/errors/define.ts';
import { certificateErrors } from '../../../machines/errors/certificate-errors.ts';
import type { RequestTemplate } from './request-template.ts';

/** What the process is asked for. */
export type X509Task =
  | { do: 'request'; key: string; template: RequestTemplate }
  | { do: 'compare'; request: string; key: string; template: RequestTemplate }
  | { do: 'selfSigned'; host: string; now: number };

/** What the process answers. */
export type X509Answer = { text: string } | { pair: { cert: string; key: string } } | { failure: string };

const PROGRAM = new URL(`./x509-process${extname(import.meta.url)}`, import.meta.url);

/** An overloaded machine needs a minute and more for two RSA keys; ms. */
const longestMs = 300_000;

/** A new ECDSA P-256 key, PEM of SEC 1 as kubelet's. */
export function newKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'sec1', format: 'pem' })
    .toString();
}

/** A certificate signing request (PKCS #10, PEM) with the key's signature. Rejects with CERT007. */
export function makeRequest(key: string, template: RequestTemplate): Promise<string> {
  return textOf({ do: 'request', key, template }, 'a certificate signing request');
}

/** Why a request (PEM) was not made with this key for this subject, '' when it was. Rejects with CERT007. */
export function compareRequest(request: string, key: string, template: RequestTemplate): Promise<string> {
  return textOf({ do: 'compare', request, key, template }, 'a comparison of certificate signing requests');
}

/** A serving certificate for the host's name or address, followed by its own authority, and its RSA key. */
export async function makeSelfSigned(host: string, now: number): Promise<{ cert: string; key: string }> {
  const answer = await ask({ do: 'selfSigned', host, now }, 'a self-signed certificate');
  if (!('pair' in answer)) throw new TypeError('unexpected answer of the process');
  return answer.pair;
}

async function textOf(task: X509Task, what: string): Promise<string> {
  const answer = await ask(task, what);
  if (!('text' in answer)) throw new TypeError('unexpected answer of the process');
  return answer.text;
}

/**
 * The library takes 25 MiB and more that no thread gives back when it ends, and is needed for a moment once in months: so
 * it runs in a process of its own. Keys go there and come back through a socket pair, never by arguments or files.
 */
function ask(task: X509Task, what: string): Promise<Exclude<X509Answer, { failure: string }>> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string, cause?: unknown): void =>
      reject(new ActorletError(certificateErrors.cannotMake, { what, reason }, { cause }));
    const env = { PATH: process.env['PATH'] };
    const child = fork(PROGRAM, { execArgv: [], env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-2_000)));
    const timer = setTimeout(() => child.kill('SIGKILL'), longestMs);
    child.once('message', (answer: X509Answer) => {
      if ('failure' in answer) fail(answer.failure);
      else resolve(answer);
    });
    child.once('error', (error) => fail(error.message, error));
    child.once('close', (code, signal) => {
      clearTimeout(timer);
      fail(`its process ended with ${signal ?? `code ${String(code)}`}: ${said.trim()}`);
    });
    child.send(task, (error) => {
      if (error !== null) fail(error.message, error);
    });
  });
}
