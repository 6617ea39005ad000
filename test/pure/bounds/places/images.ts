/** What pull secrets, plugins, registries and the kubelet's own record of pulls say: the main thread pulls. A secret has 1 MiB. */
import { parseDockerConfig } from '../../../../machines/images/docker-config.ts';
import { lookUpLogins, repositoryOf } from '../../../../machines/images/keyring.ts';
import { parseProviderResponse } from '../../../../machines/images/provider-response.ts';
import { pullFailure } from '../../../../machines/images/pull-error.ts';
import { readIntent, readRecord } from '../../../../machines/images/pull-record.ts';
import { matcherFor } from '../../../../machines/images/registry-match.ts';
import type { Place } from '../support/place.ts';

const place = (name: string, channel: string, read: Place['read']): Place => ({ name, channel, thread: 'main', read });
const login = { username: 'u', password: 'p' };
const label = 'a'.repeat(63);
const repository = `${label}.${label}.${label}.example.com/x`;

/** A docker configuration with as many locations as the text has room for, each as long as a label can be. */
function manyLocations(text: string): Record<string, typeof login> {
  const logins: Record<string, typeof login> = {};
  for (let at = 0; at < text.length; at += 60)
    logins[`${text.slice(at, at + 60)}.*.*.example.com/${String(at)}`] = login;
  return logins;
}

export const places: readonly Place[] = [
  place('parseDockerConfig', 'secret, file of the node', (text) => parseDockerConfig(text, false)),
  place('parseDockerConfig: auth', 'secret', (text) =>
    parseDockerConfig(JSON.stringify({ auths: { a: { auth: text } } }), false),
  ),
  place('lookUpLogins: one location', 'secret', (text) => lookUpLogins([{ [text]: login }], repository)),
  place('lookUpLogins: many locations', 'secret', (text) => lookUpLogins([manyLocations(text)], repository)),
  place('matcherFor', 'image', (text) => matcherFor(text)('*.example.com')),
  place('repositoryOf', 'image', repositoryOf),
  place('parseProviderResponse', 'credential plugin', (text) =>
    parseProviderResponse(text, 'credentialprovider.kubelet.k8s.io/v1'),
  ),
  place('pullFailure', 'error of the runtime', (text) => pullFailure('a', text)),
  place('readIntent', 'file of the node', readIntent),
  place('readRecord', 'file of the node', readRecord),
];
