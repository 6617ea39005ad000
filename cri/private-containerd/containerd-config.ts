import type { ContainerdVersion } from './binaries.ts';
import type { HostFacts } from './host-facts.ts';
import type { ContainerdLayout } from './layout.ts';

/** What the configuration of a private containerd is made from. */
export interface ContainerdConfigInput {
  layout: ContainerdLayout;
  version: ContainerdVersion;
  facts: HostFacts;
  cniBinDir: string;
  sandboxImage: string;
  cgroupDriver: 'cgroupfs' | 'systemd';
  /** Names of further runtime handlers (RuntimeClass), all runc. */
  runtimeHandlers: readonly string[];
  /** A folder of `HOST/hosts.toml`, which says where images are pulled from; null: from where their names say. */
  registryHosts: string | null;
}

/** `config.toml` for containerd 1.6/1.7 (`version = 2`) or 2.x (`version = 3`). */
export function containerdConfig(input: ContainerdConfigInput): string {
  const modern = input.version.major >= 2;
  return `${[...daemonLines(input, modern), ...(modern ? criLinesV3(input) : criLinesV2(input))].join('\n')}\n`;
}

// Snapshotters that are not used are left out: some of them probe devices, and all cost start-up time.
const UNUSED_PLUGINS = [
  'io.containerd.snapshotter.v1.aufs',
  'io.containerd.snapshotter.v1.btrfs',
  'io.containerd.snapshotter.v1.devmapper',
  'io.containerd.snapshotter.v1.zfs',
  'io.containerd.snapshotter.v1.blockfile',
  'io.containerd.snapshotter.v1.erofs',
];

function daemonLines({ layout }: ContainerdConfigInput, modern: boolean): string[] {
  return [
    '# Written by actorlet at each start; changes here are lost.',
    `version = ${modern ? 3 : 2}`,
    `root = ${text(layout.root)}`,
    `state = ${text(layout.state)}`,
    `disabled_plugins = [${UNUSED_PLUGINS.map(text).join(', ')}]`,
    '[grpc]',
    `  address = ${text(layout.socket)}`,
    '[debug]',
    '  level = "info"',
    // by default /opt/containerd, which would be made outside our folder
    "[plugins.'io.containerd.internal.v1.opt']",
    `  path = ${text(`${layout.dir}/opt`)}`,
  ];
}

function criLinesV2(input: ContainerdConfigInput): string[] {
  const { layout, facts } = input;
  const cri = "plugins.'io.containerd.grpc.v1.cri'";
  return [
    `[${cri}]`,
    `  sandbox_image = ${text(input.sandboxImage)}`,
    `  restrict_oom_score_adj = ${!facts.canLowerOomScore}`,
    `  disable_apparmor = ${!facts.appArmor}`,
    '  disable_tcp_service = true',
    '  tolerate_missing_hugetlb_controller = true',
    '  netns_mounts_under_state_dir = true',
    '  stream_server_address = "127.0.0.1"',
    '  stream_server_port = "0"',
    ...registryLines(cri, input),
    `[${cri}.cni]`,
    `  bin_dir = ${text(input.cniBinDir)}`,
    `  conf_dir = ${text(layout.cniConfDir)}`,
    `[${cri}.containerd]`,
    `  snapshotter = ${text(facts.snapshotter)}`,
    '  default_runtime_name = "runc"',
    ...runtimeLines(cri, input),
  ];
}

function criLinesV3(input: ContainerdConfigInput): string[] {
  const { layout, facts, version } = input;
  const runtime = "plugins.'io.containerd.cri.v1.runtime'";
  const images = "plugins.'io.containerd.cri.v1.images'";
  const listOfDirs = version.major > 2 || version.minor >= 1;
  return [
    `[${images}]`,
    `  snapshotter = ${text(facts.snapshotter)}`,
    `[${images}.pinned_images]`,
    `  sandbox = ${text(input.sandboxImage)}`,
    ...registryLines(images, input),
    "[plugins.'io.containerd.grpc.v1.cri']",
    '  disable_tcp_service = true',
    '  stream_server_address = "127.0.0.1"',
    '  stream_server_port = "0"',
    `[${runtime}]`,
    `  restrict_oom_score_adj = ${!facts.canLowerOomScore}`,
    `  disable_apparmor = ${!facts.appArmor}`,
    '  tolerate_missing_hugetlb_controller = true',
    '  netns_mounts_under_state_dir = true',
    `[${runtime}.cni]`,
    listOfDirs ? `  bin_dirs = [${text(input.cniBinDir)}]` : `  bin_dir = ${text(input.cniBinDir)}`,
    `  conf_dir = ${text(layout.cniConfDir)}`,
    `[${runtime}.containerd]`,
    '  default_runtime_name = "runc"',
    ...runtimeLines(runtime, input),
  ];
}

function registryLines(plugin: string, { registryHosts }: ContainerdConfigInput): string[] {
  return registryHosts === null ? [] : [`[${plugin}.registry]`, `  config_path = ${text(registryHosts)}`];
}

function runtimeLines(plugin: string, input: ContainerdConfigInput): string[] {
  return ['runc', ...input.runtimeHandlers].flatMap((name) => [
    `[${plugin}.containerd.runtimes.${text(name)}]`,
    '  runtime_type = "io.containerd.runc.v2"',
    `[${plugin}.containerd.runtimes.${text(name)}.options]`,
    `  SystemdCgroup = ${input.cgroupDriver === 'systemd'}`,
  ]);
}

/** A TOML basic string; JSON's escapes are a subset of TOML's. */
function text(value: string): string {
  return JSON.stringify(value);
}
