import type { CallReport } from '../../../cri/client/call.ts';
import { NamespaceMode } from '../../../machines/protocol/cri-shapes.ts';
import type { SandboxConfig } from '../../../machines/protocol/cri-shapes.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { Observation } from '../../record/metrics/observation.ts';

/** `RunPodSandbox` -> `run_podsandbox`: kubelet's names of runtime operations. */
const OPERATIONS: Readonly<Record<string, string>> = {
  Version: 'version',
  RunPodSandbox: 'run_podsandbox',
  StopPodSandbox: 'stop_podsandbox',
  RemovePodSandbox: 'remove_podsandbox',
  PodSandboxStatus: 'podsandbox_status',
  ListPodSandbox: 'list_podsandbox',
  CreateContainer: 'create_container',
  StartContainer: 'start_container',
  StopContainer: 'stop_container',
  RemoveContainer: 'remove_container',
  ListContainers: 'list_containers',
  ContainerStatus: 'container_status',
  UpdateContainerResources: 'update_container',
  ReopenContainerLog: 'reopen_container_log',
  ExecSync: 'exec_sync',
  Status: 'status',
  ListImages: 'list_images',
  ImageStatus: 'image_status',
  PullImage: 'pull_image',
  RemoveImage: 'remove_image',
  ImageFsInfo: 'image_fs_info',
  RuntimeConfig: 'runtime_config',
  Exec: 'exec',
  Attach: 'attach',
  PortForward: 'port_forward',
  UpdateRuntimeConfig: 'update_runtime_config',
  UpdatePodSandboxResources: 'update_podsandbox_resources',
  ContainerStats: 'container_stats',
  ListContainerStats: 'list_container_stats',
  PodSandboxStats: 'podsandbox_stats',
  ListPodSandboxStats: 'list_podsandbox_stats',
  ListPodSandboxMetrics: 'list_podsandbox_metrics',
  ListMetricDescriptors: 'list_metric_descriptors',
  CheckpointContainer: 'checkpoint_container',
  GetContainerEvents: 'get_container_events',
};

/** Readings of calls and effects, under kubelet's metric names. */
export const effectObservations = {
  /** One call to the runtime. */
  call(report: CallReport): Observation[] {
    const operation_type = OPERATIONS[report.method] ?? report.method.toLowerCase();
    const labels = { operation_type };
    const out: Observation[] = [
      { name: 'kubelet_runtime_operations_total', labels, value: 1, op: 'inc' },
      { name: 'kubelet_runtime_operations_duration_seconds', labels, value: report.ms / 1000, op: 'observe' },
    ];
    if (report.code !== 'OK')
      out.push({ name: 'kubelet_runtime_operations_errors_total', labels, value: 1, op: 'inc' });
    return out;
  },
  /** One effect of a pod. */
  effect(effect: Effect, seconds: number, error: { code: string } | null): Observation[] {
    const out: Observation[] = [
      { name: 'actorlet_effect_duration_seconds', labels: { effect: effect.type }, value: seconds, op: 'observe' },
    ];
    if (effect.type === 'cri.RunPodSandbox') {
      const labels = { runtime_handler: effect.params.runtimeHandler };
      out.push({ name: 'kubelet_run_podsandbox_duration_seconds', labels, value: seconds, op: 'observe' });
      out.push({ name: 'kubelet_started_pods_total', labels: {}, value: 1, op: 'inc' });
      if (error !== null) {
        out.push({ name: 'kubelet_run_podsandbox_errors_total', labels, value: 1, op: 'inc' });
        out.push({ name: 'kubelet_started_pods_errors_total', labels: {}, value: 1, op: 'inc' });
      }
      if (hasOwnUsers(effect.params.config)) {
        out.push({ name: 'kubelet_started_user_namespaced_pods_total', labels: {}, value: 1, op: 'inc' });
        if (error !== null)
          out.push({ name: 'kubelet_started_user_namespaced_pods_errors_total', labels: {}, value: 1, op: 'inc' });
      }
    }
    if (effect.type === 'host.EnsurePodCgroup') out.push(cgroupWork('create', seconds));
    if (effect.type === 'host.RemovePodCgroup') out.push(cgroupWork('destroy', seconds));
    // The key's end marks a hook's request that is sent again over http (machines/container/hook-effect.ts).
    if (
      effect.type === 'net.HttpGet' &&
      effect.key.startsWith('container/') &&
      effect.key.endsWith('/http') &&
      error === null
    ) {
      out.push({ name: 'kubelet_lifecycle_handler_http_fallbacks_total', labels: {}, value: 1, op: 'inc' });
    }
    return out;
  },
};

/** `hostUsers: false`. */
function hasOwnUsers({ linux }: SandboxConfig): boolean {
  return linux.securityContext.namespaceOptions.usernsOptions?.mode === NamespaceMode.POD;
}

/** A pod's cgroup is made and set in one go; what kubelet tells apart as `create` and `update` is one operation here. */
function cgroupWork(operation_type: string, seconds: number): Observation {
  return { name: 'kubelet_cgroup_manager_duration_seconds', labels: { operation_type }, value: seconds, op: 'observe' };
}
