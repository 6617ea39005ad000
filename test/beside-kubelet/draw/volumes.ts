import type { Draws } from './draws.ts';

const ITEMS = { items: [{ key: 'plain', path: 'a/b' }] };

/** Volumes of a drawn pod, by the sources that need no driver; names begin as their kind. */
export function drawnVolumes(d: Draws): { name: string }[] {
  const volumes = [
    () => ({ name: 'empty', emptyDir: {} }),
    () => ({ name: 'empty-memory', emptyDir: { medium: 'Memory', ...d.maybe(0.5, () => ({ sizeLimit: '8Mi' })) } }),
    () => ({
      name: 'map',
      configMap: { ...drawnObject(d, 'settings'), ...d.maybe(0.3, () => ITEMS), ...drawnMode(d) },
    }),
    () => ({
      name: 'secret',
      secret: {
        secretName: 'hidden',
        ...d.maybe(0.3, () => ITEMS),
        ...drawnMode(d),
        ...d.maybe(0.1, () => ({ optional: true })),
      },
    }),
    () => ({
      name: 'downward',
      downwardAPI: {
        items: [
          { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
          { path: 'name', fieldRef: { fieldPath: 'metadata.name' }, ...d.maybe(0.3, () => ({ mode: 0o600 })) },
          { path: 'notes', fieldRef: { fieldPath: 'metadata.annotations' } },
        ],
        ...drawnMode(d),
      },
    }),
    () => ({
      name: 'projected',
      projected: {
        sources: [
          { configMap: { name: 'settings' } },
          { secret: { name: 'hidden', ...ITEMS } },
          { serviceAccountToken: { path: 'token', expirationSeconds: 3600 } },
        ],
        ...drawnMode(d),
      },
    }),
    () => ({
      name: 'host',
      hostPath: { path: '/usr/share', ...d.maybe(0.6, () => ({ type: d.one(['', 'Directory', 'File']) })) },
    }),
  ];
  return d.some([...volumes, () => drawnClaim(d)], 0.2).map((make) => make());
}

/** A claim: bound to a folder of the node, to nothing, or missing. */
function drawnClaim(d: Draws): { name: string } {
  const claimName = d.one(['host', 'host', 'local', 'local', 'local', 'pending', 'missing']);
  const persistentVolumeClaim = { claimName, ...d.maybe(0.2, () => ({ readOnly: true })) };
  return Object.assign({ name: 'claim' }, { persistentVolumeClaim });
}

function drawnObject(d: Draws, name: string): Record<string, unknown> {
  const missing = d.chance(0.1);
  return { name: missing ? `no-${name}` : name, ...d.maybe(missing ? 0.5 : 0.1, () => ({ optional: true })) };
}

function drawnMode(d: Draws): Record<string, unknown> {
  return d.maybe(0.3, () => ({ defaultMode: d.one([0o400, 0o644, 0o755]) }));
}
