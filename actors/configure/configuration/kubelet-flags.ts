/** kubelet's flags that are no fields of the configuration file. Paths are absolute; '' is "not given". */
export interface KubeletFlags {
  /** `--config`. */
  configFile: string;
  /** `--config-dir`. */
  configDir: string;
  /** `--root-dir`. */
  rootDir: string;
  /** `--cert-dir`. */
  certDir: string;
  /** `--kubeconfig`; '' means standalone. */
  kubeconfig: string;
  /** `--bootstrap-kubeconfig`. */
  bootstrapKubeconfig: string;
  /** `--hostname-override`. */
  hostnameOverride: string;
  /** `--node-ip`: one address, or one of each family. */
  nodeIPs: string[];
  /** `--node-labels`. */
  nodeLabels: Record<string, string>;
  /** `--cloud-provider`: '' or `external`. */
  cloudProvider: string;
  /** `--runtime-cgroups`. */
  runtimeCgroups: string;
  /** `--image-credential-provider-config`. */
  imageCredentialProviderConfig: string;
  /** `--image-credential-provider-bin-dir`. */
  imageCredentialProviderBinDir: string;
  /** `--lock-file`. */
  lockFile: string;
  /** `--exit-on-lock-contention`. */
  exitOnLockContention: boolean;
  /** `--minimum-container-ttl-duration`, ms. */
  minimumContainerTtlDuration: number;
  /** `--maximum-dead-containers`; negative: no limit. */
  maximumDeadContainers: number;
  /** `--maximum-dead-containers-per-container`; negative: no limit. */
  maximumDeadContainersPerContainer: number;
  /** `--experimental-mounter-path`: absolute; '': none. */
  experimentalMounterPath: string;
  /** `--experimental-allocatable-ignore-eviction`: `evictionHard` is not taken off what pods may have, nor held against all of them together. */
  experimentalAllocatableIgnoreEviction: boolean;
}
