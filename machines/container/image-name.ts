const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const domain =
  '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\\.(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?))*(?::[0-9]+)?|\\[[a-fA-F0-9:]+\\](?::[0-9]+)?';
// eslint-disable-next-line no-restricted-syntax -- made of the constants above
const reference = new RegExp(
  `^((?:(?:${domain})/)?(${component}(?:/${component})*))(:[\\w][\\w.-]{0,127})?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);
/** Longest path of a repository, without its registry. */
const MAX_PATH = 255;
/** Digest algorithms, with the length of their hexadecimal sums. */
const SUMS: ReadonlyMap<string, number> = new Map([
  ['sha256', 64],
  ['sha384', 96],
  ['sha512', 128],
]);

/**
 * The image with `:latest` added when it has neither tag nor digest, or an error in the words of the
 * reference grammar (kubelet `applyDefaultImageTag`, reason InvalidImageName).
 */
export function withDefaultTag(image: string): { image: string } | { error: string } {
  const match = reference.exec(image);
  const why = fault(image, match);
  if (why !== null) return { error: `couldn't parse image name "${image}": ${why}` };
  return { image: match?.[3] === undefined && match?.[4] === undefined ? `${image}:latest` : image };
}

function fault(image: string, match: RegExpExecArray | null): string | null {
  if (/^[a-f0-9]{64}$/.test(image))
    return `invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`;
  const path = pathOf(image).split(':')[0] ?? '';
  if (path.toLowerCase() !== path) return `invalid reference format: repository name (${path}) must be lowercase`;
  if (match === null) return 'invalid reference format';
  if (pathOf(match[1] ?? '').length > MAX_PATH) return `repository name must not be more than ${MAX_PATH} characters`;
  return match[4] === undefined ? null : digestFault(match[4].slice(1));
}

/** What follows the registry in a reference; a name alone is one of Docker's library. */
function pathOf(image: string): string {
  const slash = image.indexOf('/');
  if (slash < 0) return `library/${image}`;
  const first = image.slice(0, slash);
  const isHost = first === 'localhost' || /[.:]/.test(first) || first.toLowerCase() !== first;
  const path = isHost ? image.slice(slash + 1) : image;
  const ofDocker = !isHost || first === 'docker.io' || first === 'index.docker.io';
  return ofDocker && !path.includes('/') ? `library/${path}` : path;
}

function digestFault(digest: string): string | null {
  const [algorithm = '', sum = ''] = digest.split(':');
  const length = SUMS.get(algorithm);
  if (length === undefined) return 'unsupported digest algorithm';
  if (sum.length !== length) return 'invalid checksum digest length';
  return /^[a-f0-9]+$/.test(sum) ? null : 'invalid checksum digest format';
}
