/** What the command line of `actorlet nodes` says. */
export interface NodesFlags {
  /** Without it the service account of the pod that this runs in. */
  kubeconfig?: string;
  count: number;
  first: number;
  profile?: string;
  seed?: number;
  config?: string;
  address?: string;
  nodeRange?: string;
  port: number;
  /** Of `/healthz`, on all addresses; 0: none. */
  healthzPort: number;
  rootDir?: string;
  /** How many times as fast as the machine's the nodes' clock runs. */
  speed: number;
  cleanup: boolean;
  output: 'auto' | 'table' | 'json' | 'none';
  logFile?: string;
  journalDir?: string;
  journalMaxBytes: number;
  /** `true`: where it listens by default. */
  inspect?: string | true;
}
