/** Is it a resource of a vendor, `example.com/gpu`, and not one of Kubernetes itself (IsExtendedResourceName)? */
export function isExtendedResource(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
}
