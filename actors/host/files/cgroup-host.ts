/** Where this machine's cgroup file systems are. */
export interface CgroupHost {
  /** 1 also for hybrid machines: their controllers sit in v1 hierarchies. */
  version: 1 | 2;
  /** Usable controllers by name, e.g. `cpu`, `memory`; v1 named hierarchies are not among them. */
  controllers: string[];
  /**
   * v1: hierarchy -> mount point; key is the controller, `name=systemd` for the named hierarchy, `''` for the
   * hybrid `unified` tree. Controllers mounted together share a mount point. v2: only `''` -> mount point.
   */
  mounts: Record<string, string>;
}
