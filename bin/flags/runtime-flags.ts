import type { FlagSpec } from './flag-spec.ts';

/** The container runtime and images. */
export const runtimeFlags: readonly FlagSpec[] = [
  { name: 'container-runtime-endpoint', kind: 'string', group: 'Container runtime', field: 'containerRuntimeEndpoint', preset: 'unix:///run/containerd/containerd.sock', deprecated: 'file', acts: true, usage: 'socket of the container runtime (CRI v1)' },
  { name: 'image-service-endpoint', kind: 'string', group: 'Container runtime', field: 'imageServiceEndpoint', deprecated: 'file', acts: true, usage: 'socket of the image service, when it is another one' },
  { name: 'runtime-request-timeout', kind: 'duration', group: 'Container runtime', field: 'runtimeRequestTimeout', preset: '2m0s', deprecated: 'file', acts: true, usage: 'longest time for one call of the runtime, pulls and streams excepted' },
  { name: 'cgroup-driver', kind: 'string', group: 'Container runtime', field: 'cgroupDriver', preset: 'cgroupfs', deprecated: 'file', acts: true, usage: 'cgroupfs or systemd, for a runtime that does not say it itself' },
  { name: 'seccomp-default', kind: 'bool', group: 'Container runtime', field: 'seccompDefault', preset: 'false', acts: true, usage: 'run containers without a seccomp profile under the runtime\'s default one' },
  { name: 'serialize-image-pulls', kind: 'bool', group: 'Container runtime', field: 'serializeImagePulls', preset: 'true', deprecated: 'file', acts: true, usage: 'pull one image at a time' },
  { name: 'container-log-max-size', kind: 'string', group: 'Container runtime', field: 'containerLogMaxSize', preset: '10Mi', deprecated: 'file', acts: true, usage: 'size at which a container\'s log is rotated' },
  { name: 'container-log-max-files', kind: 'int', group: 'Container runtime', field: 'containerLogMaxFiles', preset: '5', deprecated: 'file', acts: true, usage: 'files kept of each container\'s log' },
  { name: 'runtime-cgroups', kind: 'string', group: 'Container runtime', acts: false, usage: 'cgroup that the runtime runs in' },
  { name: 'image-credential-provider-config', kind: 'string', group: 'Container runtime', acts: false, usage: 'file or folder that configures credential provider plugins' },
  { name: 'image-credential-provider-bin-dir', kind: 'string', group: 'Container runtime', acts: false, usage: 'folder with the programs of those plugins' },
];
