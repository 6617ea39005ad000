import type {
  ImagePullCredentials,
  ImagePulledRecord,
  ImagePullSecret,
  ImagePullServiceAccount,
} from './pull-record.ts';

/** So many secrets of an image are remembered at most when pods only use it; a pull is remembered always. */
const REMEMBER_SEEN_BELOW = 100;

/**
 * Adds to a record with what its image was pulled under the name `name`. Null when the record says so already.
 * `time` as in `lastUpdatedTime`.
 */
export function addCredentials(
  record: ImagePulledRecord,
  name: string,
  added: ImagePullCredentials,
  time: string,
): ImagePulledRecord | null {
  const { kubernetesSecrets: secrets = [], kubernetesServiceAccounts: accounts = [] } = added;
  const forAll = added.nodePodsAccessible === true;
  if (!forAll && secrets.length === 0 && accounts.length === 0) return null;
  const known = record.credentialMapping[name];
  const merged = known === undefined ? added : merge(known, secrets, accounts, forAll);
  if (merged === null) return null;
  return { ...record, lastUpdatedTime: time, credentialMapping: { ...record.credentialMapping, [name]: merged } };
}

function merge(
  known: ImagePullCredentials,
  secrets: ImagePullSecret[],
  accounts: ImagePullServiceAccount[],
  forAll: boolean,
): ImagePullCredentials | null {
  if (known.nodePodsAccessible === true) return null;
  if (forAll) return { nodePodsAccessible: true };
  if (secrets.length > 0) {
    const all = union(known.kubernetesSecrets ?? [], secrets);
    return all === null ? null : { ...known, kubernetesSecrets: all };
  }
  const all = union(known.kubernetesServiceAccounts ?? [], accounts);
  return all === null ? null : { ...known, kubernetesServiceAccounts: all };
}

/** One entry for each object, the newer one wins; sorted by namespace, name and UID. Null when nothing changed. */
function union<T extends ImagePullServiceAccount & { credentialHash?: string }>(
  known: readonly T[],
  added: readonly T[],
): T[] | null {
  const keyOf = ({ namespace, name, uid }: T) => JSON.stringify([namespace, name, uid]);
  const all = new Map(known.map((entry) => [keyOf(entry), entry]));
  let changed = false;
  for (const entry of added) {
    const key = keyOf(entry);
    const old = all.get(key);
    if (old !== undefined && old.credentialHash === entry.credentialHash) continue;
    all.set(key, entry);
    changed = true;
  }
  if (!changed) return null;
  const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return [...all.values()].sort(
    (a, b) => order(a.namespace, b.namespace) || order(a.name, b.name) || order(a.uid, b.uid),
  );
}

/** May a pod with these secrets use the image; `remember` is a secret that the record should know from now on. */
export interface Access {
  allowed: boolean;
  remember: ImagePullSecret | null;
}

const REFUSED: Access = { allowed: false, remember: null };
const ALLOWED: Access = { allowed: true, remember: null };

/** True when nothing about the pod can change the answer of {@link accessWith}: `secrets` need not be looked up. */
export function isOpenToAll(known: ImagePullCredentials | undefined): boolean {
  return known?.nodePodsAccessible === true;
}

/**
 * Does one of the pod's pull secrets open an image that was pulled with `known`? The same login does, whatever secret
 * it stands in; so does the same secret with a new login (it was rotated). Both are then remembered.
 */
export function accessWith(known: ImagePullCredentials | undefined, secrets: readonly ImagePullSecret[]): Access {
  if (known === undefined) return REFUSED;
  if (isOpenToAll(known)) return ALLOWED;
  const recorded = known.kubernetesSecrets ?? [];
  const mayRemember = recorded.length < REMEMBER_SEEN_BELOW;
  for (const secret of secrets) {
    for (const entry of recorded) {
      const sameLogin = entry.credentialHash !== '' && entry.credentialHash === secret.credentialHash;
      const sameSecret = entry.uid === secret.uid && entry.namespace === secret.namespace && entry.name === secret.name;
      if (sameLogin) return { allowed: true, remember: !sameSecret && mayRemember ? secret : null };
      if (sameSecret && mayRemember) return { allowed: true, remember: secret };
    }
  }
  return REFUSED;
}

/** Was the image pulled with a login that a token of this service account brought? */
export function isAccountOf(known: ImagePullCredentials | undefined, account: ImagePullServiceAccount | null): boolean {
  return (known?.kubernetesServiceAccounts ?? []).some(
    ({ uid, namespace, name }) => uid === account?.uid && namespace === account.namespace && name === account.name,
  );
}
