import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { ActorletError } from '../../machines/errors/define.ts';
import { runtimeErrors } from '../../machines/errors/runtime-errors.ts';

/** Longest unix socket path in bytes (`sun_path` is 108 with its ending zero). */
const MAX_SOCKET_PATH = 107;

/** Where everything of one private containerd lives: all below `<root-dir>/containerd/`. */
export interface ContainerdLayout {
  dir: string;
  root: string;
  state: string;
  socket: string;
  /** `unix://` + socket: what a CRI client is given. */
  endpoint: string;
  config: string;
  pidFile: string;
  /** Boot id of the machine when the state folder was begun. */
  bootFile: string;
  log: string;
  cniConfDir: string;
  cniConflist: string;
  /** host-local keeps the addresses it gave out here. */
  ipamDir: string;
  imageArchive: string;
  /** Digest of the archive that was imported last. */
  imageMarker: string;
  /** Network and bridge name carry a hash of the folder, so that several agents fit on one machine. */
  networkName: string;
  /** At most 15 characters (IFNAMSIZ). */
  bridgeName: string;
}

/**
 * The layout for an agent's `--root-dir`. Throws {@link ActorletError} RTM003 when the socket path would not fit
 * (containerd puts `.ttrpc` behind it for the shims).
 */
export function containerdLayout(rootDir: string): ContainerdLayout {
  const dir = join(resolve(rootDir), 'containerd');
  const socket = join(dir, 'containerd.sock');
  const longest = Buffer.byteLength(`${socket}.ttrpc`);
  if (longest > MAX_SOCKET_PATH) {
    throw new ActorletError(runtimeErrors.socketPathTooLong, {
      path: `${socket}.ttrpc`,
      length: longest,
      max: MAX_SOCKET_PATH,
    });
  }
  const tag = createHash('sha256').update(dir).digest('hex').slice(0, 8);
  return {
    dir,
    root: join(dir, 'root'),
    state: join(dir, 'state'),
    socket,
    endpoint: `unix://${socket}`,
    config: join(dir, 'config.toml'),
    pidFile: join(dir, 'containerd.pid'),
    bootFile: join(dir, 'boot-id'),
    log: join(dir, 'containerd.log'),
    cniConfDir: join(dir, 'cni', 'net.d'),
    cniConflist: join(dir, 'cni', 'net.d', '10-actorlet.conflist'),
    ipamDir: join(dir, 'cni', 'networks'),
    imageArchive: join(dir, 'images.tar'),
    imageMarker: join(dir, 'images.digest'),
    networkName: `actorlet-${tag}`,
    bridgeName: `act${tag}`,
  };
}
