import type { TestContext } from 'node:test';
import pino from 'pino';
import { createApiClient } from '../../../actors/cluster/api/create-api-client.ts';
import type { ApiClient } from '../../../actors/cluster/api/api-client.ts';
import { ObjectStore } from '../../../actors/cluster/objects/object-store.ts';
import type { ObjectStoreSettings } from '../../../actors/cluster/objects/object-store.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { startFakeApiServer } from '../api/support/fake-api-server.ts';
import type { FakeApiServer } from '../api/support/fake-api-server.ts';

export const CONFIG_MAPS = { group: '', version: 'v1', resource: 'configmaps', namespace: 'default' };
export const SECRETS = { group: '', version: 'v1', resource: 'secrets', namespace: 'default' };

/** A fake API server with a client on it; what was logged; all ends with the test. */
export interface ApiBench {
  server: FakeApiServer;
  api: ApiClient;
  log: pino.Logger;
  logged: string[];
}

export async function apiBench(t: TestContext): Promise<ApiBench> {
  const server = await startFakeApiServer();
  const logged: string[] = [];
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  const api = createApiClient({ kubeconfig: server.kubeconfigPath, userAgent: 'test', log });
  t.after(async () => {
    api.close();
    await server.close();
  });
  return { server, api, log, logged };
}

/** {@link ApiBench} with an object store; `changes` holds `kind/name` of each `onChange`. */
export async function objectsBench(t: TestContext, settings: Partial<ObjectStoreSettings> = {}) {
  const bench = await apiBench(t);
  const changes: string[] = [];
  const store = new ObjectStore({
    api: bench.api,
    strategy: 'Watch',
    log: bench.log,
    onChange: (kind, _namespace, name) => changes.push(`${kind}/${name}`),
    ...settings,
  });
  t.after(() => {
    store.close();
  });
  return { ...bench, store, changes };
}

/** A pod with a configMap volume for each of `shows`, and `envFrom` of each of `reads`; `secret:` before a name. */
export function podWith(uid: string, shows: string[], reads: string[] = []): Pod {
  const name = (text: string) => text.replace(/^secret:/, '');
  return {
    metadata: { uid, name: uid, namespace: 'default' },
    spec: {
      containers: [
        {
          name: 'c',
          envFrom: reads.map((text) =>
            text.startsWith('secret:') ? { secretRef: { name: name(text) } } : { configMapRef: { name: text } },
          ),
        },
      ],
      volumes: shows.map((text, i) =>
        text.startsWith('secret:')
          ? { name: `v${i}`, secret: { secretName: name(text) } }
          : { name: `v${i}`, configMap: { name: text } },
      ),
    },
  };
}
