const NAME = /^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$/;

/** Splits off the registry's host as the image reference grammar does: a first part with `.` or `:`, or `localhost`. */
function withoutHost(name: string): string {
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  const isHost = /[.:]/.test(first) || first === 'localhost' || first.toLowerCase() !== first;
  return isHost ? name.slice(slash + 1) : name;
}

/**
 * The tag that decides the default pull policy: the tag written, `latest` when there is neither tag nor digest,
 * '' for a digest alone and for what is no image reference.
 */
function imageTag(image: string): string {
  const at = image.indexOf('@');
  const digest = at < 0 ? '' : image.slice(at + 1);
  const named = at < 0 ? image : image.slice(0, at);
  const colon = named.lastIndexOf(':');
  const tagged = colon > named.lastIndexOf('/');
  const tag = tagged ? named.slice(colon + 1) : '';
  const repository = withoutHost(tagged ? named.slice(0, colon) : named);
  if (!NAME.test(repository) || (tagged && !/^\w[\w.-]{0,127}$/.test(tag))) return '';
  return tag === '' && digest === '' ? 'latest' : tag;
}

/** Default `imagePullPolicy`: `Always` for `:latest`, `IfNotPresent` for the rest. */
export function defaultPullPolicy(image: string): string {
  return imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent';
}
