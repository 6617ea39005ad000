/** `host:port`, with brackets around an IPv6 address (Go's `net.JoinHostPort`). */
export function hostPort(host: string, port: number | string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
