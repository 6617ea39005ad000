import type { Container, Pod } from '../protocol/api-types.ts';
import { descendingPath, noBacksteps } from './names.ts';
import { forbidden, invalid, notFound, notSupported, type Problems, required } from './problem.ts';

type Mount = NonNullable<Container['volumeMounts']>[number];

function* propagation(at: string, mount: Mount, privileged: boolean): Problems {
  const modes = ['Bidirectional', 'HostToContainer', 'None'];
  if (mount.mountPropagation !== undefined) {
    const field = `${at}.mountPropagation`;
    if (!modes.includes(mount.mountPropagation)) yield notSupported(field, mount.mountPropagation, modes);
    if (mount.mountPropagation === 'Bidirectional' && !privileged) {
      yield forbidden(field, 'Bidirectional mount propagation is available only to privileged containers');
    }
  }
  const recursive = mount.recursiveReadOnly;
  if (recursive === undefined || recursive === 'Disabled') return;
  const field = `${at}.recursiveReadOnly`;
  if (!['Enabled', 'IfPossible'].includes(recursive)) {
    return void (yield notSupported(field, recursive, ['Disabled', 'Enabled', 'IfPossible']));
  }
  if (!mount.readOnly) yield forbidden(field, 'may only be specified when readOnly is true');
  if (mount.mountPropagation !== undefined && mount.mountPropagation !== 'None') {
    yield forbidden(field, 'may only be specified when mountPropagation is None or not specified');
  }
}

/** `volumeMounts` and `volumeDevices` of a container, and the volumes that they name. */
export function* mountsOf(path: string, container: Container, spec: NonNullable<Pod['spec']>): Problems {
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
  const privileged = container.securityContext?.privileged === true;
  const paths = new Set<string>();
  const devices = container.volumeDevices ?? [];
  for (const [i, mount] of (container.volumeMounts ?? []).entries()) {
    const at = `${path}.volumeMounts[${i}]`;
    if (!mount.name) yield required(`${at}.name`);
    else if (!volumes.has(mount.name)) yield notFound(`${at}.name`, mount.name);
    if (!mount.mountPath) yield required(`${at}.mountPath`);
    else if (paths.has(mount.mountPath)) yield invalid(`${at}.mountPath`, mount.mountPath, 'must be unique');
    paths.add(mount.mountPath);
    if (devices.some((device) => device.name === mount.name)) {
      yield invalid(`${at}.name`, mount.name, 'must not already exist in volumeDevices');
    }
    if (devices.some((device) => device.devicePath === mount.mountPath)) {
      yield invalid(`${at}.mountPath`, mount.mountPath, 'must not already exist as a path in volumeDevices');
    }
    if (mount.subPath) yield* descendingPath(`${at}.subPath`, mount.subPath);
    if (mount.subPathExpr) {
      if (mount.subPath) {
        yield invalid(`${at}.subPathExpr`, mount.subPathExpr, 'subPathExpr and subPath are mutually exclusive');
      }
      yield* descendingPath(`${at}.subPathExpr`, mount.subPathExpr);
    }
    yield* propagation(at, mount, privileged);
  }
  const seen = { names: new Set<string>(), paths: new Set<string>() };
  for (const [i, device] of devices.entries()) {
    const at = `${path}.volumeDevices[${i}]`;
    const volume = volumes.get(device.name);
    if (!device.name) yield required(`${at}.name`);
    else if (!volume) yield notFound(`${at}.name`, device.name);
    else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
      const rule = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      yield invalid(`${at}.name`, device.name, rule);
    }
    if (!device.devicePath) yield required(`${at}.devicePath`);
    else yield* noBacksteps(`${at}.devicePath`, device.devicePath);
    if (seen.names.has(device.name)) yield invalid(`${at}.name`, device.name, 'must be unique');
    if (seen.paths.has(device.devicePath)) yield invalid(`${at}.devicePath`, device.devicePath, 'must be unique');
    seen.names.add(device.name);
    seen.paths.add(device.devicePath);
  }
}
