import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ImageServiceService, RuntimeServiceService } from '../../../cri/generated/runtime/v1/api.ts';
import { effectObservations } from '../../../actors/pods/shard/effect-observations.ts';

/** As kubelet's `instrumented_services.go` has them. */
const KUBELETS = [
  ...[
    'version',
    'status',
    'create_container',
    'start_container',
    'stop_container',
    'remove_container',
    'list_containers',
  ],
  ...['container_status', 'update_container', 'reopen_container_log', 'exec_sync', 'exec', 'attach', 'run_podsandbox'],
  ...['stop_podsandbox', 'remove_podsandbox', 'podsandbox_status', 'list_podsandbox', 'container_stats'],
  ...[
    'list_container_stats',
    'podsandbox_stats',
    'list_podsandbox_stats',
    'port_forward',
    'update_podsandbox_resources',
  ],
  ...['update_runtime_config', 'list_images', 'image_status', 'pull_image', 'remove_image', 'image_fs_info'],
  ...[
    'checkpoint_container',
    'get_container_events',
    'list_metric_descriptors',
    'list_podsandbox_metrics',
    'runtime_config',
  ],
];

test('each call to the runtime is counted under the name that kubelet gives it', () => {
  const methods = new Set(
    [...Object.values(RuntimeServiceService), ...Object.values(ImageServiceService)].map(
      ({ path }) => path.split('/').at(-1) ?? '',
    ),
  );
  const names = [...methods].map((method) => {
    const [first] = effectObservations.call({ method, ms: 1, code: 'OK' } as Parameters<
      typeof effectObservations.call
    >[0]);
    return String(first?.labels?.['operation_type']);
  });
  assert.deepEqual(
    names.filter((name) => !KUBELETS.includes(name)),
    [],
  );
  assert.deepEqual(
    KUBELETS.filter((name) => !names.includes(name)),
    [],
  );
});
