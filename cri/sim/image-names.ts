import { refused } from './rpc-error.ts';

/** A name taken apart, filled up as Docker and containerd do. */
export interface ImageName {
  /** `docker.io/library/busybox`. */
  repository: string;
  /** `docker.io/library/busybox:latest`, or with `@sha256:...`. */
  full: string;
  /** `sha256:...` when the name has one. */
  digest: string | undefined;
}

const REPOSITORY = /^[a-z0-9.-]+(?::\d+)?(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)+$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** `busybox` -> `docker.io/library/busybox:latest`. Throws containerd's refusal of a name that is none. */
export function parseImageName(name: string): ImageName {
  const [path = '', digest] = name.split('@', 2);
  const slash = path.lastIndexOf('/');
  const colon = path.indexOf(':', slash + 1);
  const tag = colon < 0 ? undefined : path.slice(colon + 1);
  const repository = withDomain(colon < 0 ? path : path.slice(0, colon));
  if (
    !REPOSITORY.test(repository) ||
    (tag !== undefined && !TAG.test(tag)) ||
    (digest !== undefined && !DIGEST.test(digest))
  ) {
    throw refused(`failed to parse image reference ${JSON.stringify(name)}: invalid reference format`);
  }
  const full = digest === undefined ? `${repository}:${tag ?? 'latest'}` : `${repository}@${digest}`;
  return { repository, full, digest };
}

function withDomain(path: string): string {
  const slash = path.indexOf('/');
  const domain = slash < 0 ? '' : path.slice(0, slash);
  if (domain.includes('.') || domain.includes(':') || domain === 'localhost') return path;
  return slash < 0 ? `docker.io/library/${path}` : `docker.io/${path}`;
}
