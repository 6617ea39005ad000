import type { CriClient } from '../../../cri/client/cri-client.ts';
import { CriError } from '../../../cri/client/cri-error.ts';
import type { AuthConfig } from '../../../cri/generated/runtime/v1/api.ts';
import { aggregate } from '../../../machines/values/aggregate.ts';
import type { EffectCatalog } from '../../../machines/protocol/effects.ts';
import type { TrackedLogin } from './pull-logins.ts';

/**
 * Pulls an image: with several logins for its registry, one after the other is tried until one is let in. Returns that one's
 * place among them, -1 when there are none. Rejects with an Error that has a `code`.
 */
export async function pullWithLogins(
  cri: CriClient,
  { image, runtimeHandler, sandboxConfig }: EffectCatalog['image.Pull']['params'],
  logins: readonly TrackedLogin[],
  signal: AbortSignal,
): Promise<number> {
  const request = { image: { image, runtimeHandler }, ...(sandboxConfig !== null && { sandboxConfig }) };
  const failures: Error[] = [];
  const tries = logins.length === 0 ? [null] : logins;
  for (const [index, login] of tries.entries()) {
    try {
      await cri.image.pullImage({ ...request, ...(login !== null && { auth: authOf(login) }) }, { signal });
      return login === null ? -1 : index;
    } catch (error) {
      if (signal.aborted) throw error;
      failures.push(readable(error));
    }
  }
  const [first] = failures;
  if (failures.length === 1 && first !== undefined) throw first;
  // The texts are whole, as events show them: a code of gRPC would be put before them once more.
  throw Object.assign(new Error(aggregate(failures.map(({ message }) => message))), { code: 'EUNKNOWN' });
}

function authOf({ username, password }: TrackedLogin): AuthConfig {
  return { username, password, auth: '', serverAddress: '', identityToken: '', registryToken: '' };
}

/** Code `Unknown` says nothing: then the runtime's words stand alone, and known beginnings of them can be told. */
function readable(error: unknown): Error {
  if (error instanceof CriError && error.code === 'Unknown')
    return Object.assign(new Error(error.details, { cause: error }), { code: 'EUNKNOWN' });
  return error instanceof Error ? error : new Error(String(error));
}
