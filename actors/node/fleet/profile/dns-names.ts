/** A DNS label (RFC 1123) of whatever length. */
export function isLabel(name: string): boolean {
  return /^[a-z0-9-]+$/.test(name) && !name.startsWith('-') && !name.endsWith('-');
}

/** A DNS subdomain (RFC 1123) of whatever length: labels with points between. */
export function isSubdomain(name: string): boolean {
  return name.split('.').every(isLabel);
}
