const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
const domain =
  '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)(?:\\.(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?))*(?::[0-9]+)?|\\[[a-fA-F0-9:]+\\](?::[0-9]+)?';
const reference = new RegExp(
  `^((?:(?:${domain})/)?${component}(?:/${component})*)(:[\\w][\\w.-]{0,127})?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);

/**
 * The image with `:latest` added when it has neither tag nor digest, or an error in the words of the
 * reference grammar (kubelet `applyDefaultImageTag`, reason InvalidImageName).
 */
export function withDefaultTag(image: string): { image: string } | { error: string } {
  const match = reference.exec(image);
  if (match === null) {
    const why = /[A-Z]/.test(image.split('/').at(-1)?.split(/[:@]/)[0] ?? '')
      ? 'invalid reference format: repository name must be lowercase'
      : 'invalid reference format';
    return { error: `couldn't parse image name "${image}": ${why}` };
  }
  return { image: match[2] === undefined && match[3] === undefined ? `${image}:latest` : image };
}
