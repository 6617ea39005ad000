import type { Pod } from '../../../machines/protocol/api-types.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { AGENT, LOOK_MS, PATIENCE_MS } from './machine.ts';
import type { Machine } from './machine.ts';

const CONFIG = '/etc/node-agent.json';
const UNIT = '/etc/systemd/system/agent.service';
const MANIFESTS = '/etc/kubernetes/manifests';
const NODE_NAME = 'vm';
const RUNTIME = 'unix:///run/containerd/containerd.sock';

/** A node agent in a machine: ours, or the kubelet of a path. Both take the same configuration and the same folder of manifests. */
export class NodeInVm {
  private readonly machine: Machine;
  private readonly program: string;
  private readonly config: object;
  private readonly service: readonly string[];
  private readonly flags: readonly string[];

  /**
   * @param kubelet path of a kubelet to run instead of this checkout's agent. @param more of the configuration
   * @param service more settings of its unit, e.g. `Type=notify`
   * @param flags more flags, e.g. `--kubeconfig=FILE`
   */
  constructor(
    machine: Machine,
    more: object = {},
    kubelet?: string,
    service: readonly string[] = [],
    flags: readonly string[] = [],
  ) {
    this.machine = machine;
    this.service = service;
    this.flags = flags;
    this.program = kubelet ?? `${AGENT}/bin/actorlet`;
    this.config = {
      apiVersion: 'kubelet.config.k8s.io/v1beta1',
      kind: 'KubeletConfiguration',
      cgroupDriver: 'systemd',
      containerRuntimeEndpoint: RUNTIME,
      staticPodPath: MANIFESTS,
      fileCheckFrequency: '1s',
      readOnlyPort: 10255,
      authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
      authorization: { mode: 'AlwaysAllow' },
      failSwapOn: false,
      ...more,
    };
  }

  /** Starts it as a unit of systemd that comes again with each boot, as nodes do, and waits until it is healthy. */
  async start(): Promise<void> {
    await this.machine.write(CONFIG, JSON.stringify(this.config));
    await this.machine.write(UNIT, this.unit());
    await this.machine.run(
      `mkdir -p ${MANIFESTS} && systemctl daemon-reload && systemctl enable --quiet agent && systemctl start agent`,
    );
    await this.healthy();
  }

  /** Waits until it says that it is healthy. */
  async healthy(): Promise<void> {
    const healthy = 'curl -sf http://127.0.0.1:10248/healthz';
    const said = await this.machine.until('a healthy agent', `${healthy} || systemctl is-failed agent`, this.logs());
    if (said !== 'ok') throw new Error(`the agent ended: ${await this.machine.run(this.logs())}`);
  }

  /** Ends it as systemd does; pods go on. */
  async stop(): Promise<void> {
    await this.machine.run(
      'systemctl disable --quiet agent; systemctl stop agent; systemctl reset-failed agent 2> /dev/null; true',
    );
  }

  /** Writes a manifest of its name. */
  async add(pod: Pod): Promise<void> {
    await this.machine.write(`${MANIFESTS}/${pod.metadata?.name}.json`, JSON.stringify(pod));
  }

  async remove(...names: string[]): Promise<void> {
    await this.machine.run(`cd ${MANIFESTS} && rm ${names.map((name) => `${name}.json`).join(' ')}`);
  }

  /** What a path of its read-only server answers. */
  get(path: string): Promise<string> {
    return this.machine.run(`curl -sf 'http://127.0.0.1:10255${path}'`);
  }

  async pods(): Promise<Pod[]> {
    return (JSON.parse(await this.get('/pods')) as { items: Pod[] | null }).items ?? [];
  }

  /** Waits until these pods run with all of their containers; by the name in the manifest. */
  async running(...names: string[]): Promise<Map<string, Pod>> {
    return waitFor(
      `${names.join(', ')} running`,
      async () => {
        const pods = new Map((await this.pods()).map((pod) => [manifestName(pod), pod]));
        const runs = (pod?: Pod) => (pod?.status?.containerStatuses ?? []).filter(({ state }) => state?.running).length;
        const all = names.every((name) => runs(pods.get(name)) === pods.get(name)?.spec?.containers.length);
        return all ? pods : undefined;
      },
      () => this.machine.run(this.logs()),
      PATIENCE_MS,
      LOOK_MS,
    );
  }

  /** Waits until it knows of no pod of these names, and the runtime has none either. */
  async gone(...names: string[]): Promise<void> {
    await waitFor(
      `the end of ${names.join(', ')}`,
      async () => {
        const left = (await this.pods()).map(manifestName).filter((name) => names.includes(name));
        return left.length === 0 ? true : undefined;
      },
      () => this.machine.run(this.logs()),
      PATIENCE_MS,
      LOOK_MS,
    );
  }

  /** The command that shows its last lines. */
  logs(): string {
    return 'journalctl -b -u agent -n 60 --no-pager -o cat';
  }

  private unit(): string {
    return `[Unit]
After=containerd.service remote-fs.target
[Service]
Environment=XDG_CACHE_HOME=/var/cache
Delegate=yes
ExecStart=${this.program} --config ${CONFIG} --hostname-override ${NODE_NAME} ${this.flags.join(' ')}
${this.service.join('\n')}
[Install]
WantedBy=multi-user.target
`;
  }
}

/** The name that its manifest gives a static pod. */
export function manifestName(pod: Pod): string {
  return (pod.metadata?.name ?? '').replace(new RegExp(`-${NODE_NAME}$`), '');
}
