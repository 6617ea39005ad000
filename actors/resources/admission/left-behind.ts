/**
 * Pods that have devices, CPUs or memory by the checkpoint of an earlier agent, and that nobody named to this one. It died when such a pod had ended,
 * or the pod was deleted while no agent was there: what it had is nobody's once nothing of it runs. Kubelet finds out when the next pod asks for some, and
 * does not look whether it runs; until then its checkpoints name who is gone.
 */
export class LeftBehind {
  private found: readonly string[] = [];

  /** These have some by the checkpoint. */
  begin(uids: readonly string[]): void {
    this.found = uids;
  }

  get any(): boolean {
    return this.found.length > 0;
  }

  /**
   * Those of them that are gone, told once. `listed`: of whom the runtime has something; one that is not known yet to have been given up
   * is looked at again.
   */
  take(known: readonly string[], listed: { has(uid: string): boolean }): string[] {
    const unknown = this.found.filter((uid) => !known.includes(uid));
    this.found = unknown.filter((uid) => listed.has(uid));
    return unknown.filter((uid) => !listed.has(uid));
  }
}
