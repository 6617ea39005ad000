import { ActorletError } from '../../machines/errors/define.ts';
import { criErrors } from '../../machines/errors/cri-errors.ts';

/** Linux: `sun_path` has 108 bytes with its final zero. */
const maxSocketPath = 107;

/**
 * The socket path of a runtime endpoint: `unix:///run/x.sock`, or a bare absolute path as the kubelet still takes.
 * @throws ActorletError CRI001
 */
export function socketPath(endpoint: string): string {
  const path = endpoint.startsWith('unix://') ? endpoint.slice('unix://'.length) : endpoint;
  let why: string | undefined;
  if (endpoint === '') why = 'it is empty';
  else if (/^[a-z0-9]+:/i.test(path)) why = `only unix sockets are supported, not ${path.slice(0, path.indexOf(':'))}`;
  else if (!path.startsWith('/')) why = 'the path of the socket must be absolute';
  else if (Buffer.byteLength(path) > maxSocketPath)
    why = `the path has ${String(Buffer.byteLength(path))} bytes, a unix socket may have ${String(maxSocketPath)}`;
  if (why !== undefined) throw new ActorletError(criErrors.invalidEndpoint, { endpoint, why });
  return path;
}
