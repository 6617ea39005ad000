import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shell } from '../../../containerd/agent/support/test-pod.ts';
import { waitFor } from '../../../tools/wait-for.ts';
import { apiPod } from '../../support/manifests.ts';
import { NODE } from '../support/api-fixture.ts';
import type { ApiFixture } from '../support/api-fixture.ts';
import { startMetricsServer } from '../support/metrics-server.ts';

/** `kubectl top` with a real metrics-server. */
export function topScenarios(api: ApiFixture): void {
  test('kubectl top shows nodes, pods and containers', async () => {
    const space = api.space();
    const burn = shell('burns', 'while :; do :; done', { resources: { limits: { cpu: '200m', memory: '64Mi' } } });
    await space.create(apiPod('burner', [burn], { nodeName: NODE, terminationGracePeriodSeconds: 0 }));
    const server = await startMetricsServer(api.cluster.plane());
    try {
      const [, milli = '', memory = ''] = await waitFor(
        'the burning container in kubectl top',
        async () => {
          const text = await space.kubectl('top', 'pod', 'burner', '--containers', '--no-headers');
          const found = /^burner +burns +(\d+)m +(\d+)Mi *$/m.exec(text);
          return found !== null && Number(found[1]) > 50 ? found : undefined;
        },
        () => server.tail(),
      );
      // limited to 200m; what it takes is counted in periods that are not exact
      assert.ok(Number(milli) < 320, `${milli}m`);
      assert.ok(Number(memory) < 64, `${memory}Mi`);
      assert.match(
        await space.kubectl('top', 'pod', 'work', '--containers', '--no-headers'),
        /^work +echo +\d+m +\d+Mi/m,
      );
      const node = /^api +(\d+)m +(\d+)% +(\d+)Mi +(\d+)% *$/m.exec(await space.kubectl('top', 'node', '--no-headers'));
      assert.ok(node !== null && Number(node[1]) > 0 && Number(node[3]) > 0, String(node?.[0]));
    } finally {
      await server.terminate();
      await space.remove('Pod', 'burner', { gracePeriodSeconds: 0 });
      await api.cluster.plane().api.delete('/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.metrics.k8s.io');
    }
  });
}
