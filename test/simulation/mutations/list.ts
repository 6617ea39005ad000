/** A rule of the agent broken on purpose: `from` stands once in `file` and becomes `to`. */
export interface Mutation {
  name: string;
  /** What an agent with it does wrong. */
  breaks: string;
  file: string;
  from: string;
  to: string;
  /**
   * The first of the seeds that are tried: one at, or shortly before, the first that finds it. Without one it takes rare
   * luck, and a pinned plan finds it.
   */
  seed?: number;
}

/** Each of these must be found by the simulation. */
export const mutations: readonly Mutation[] = [
  {
    name: 'no-first-look',
    breaks: 'a pod that starts before the runtime was listed once is taken for one that the runtime does not hold',
    file: 'actors/pleg/pleg.ts',
    from: 'return this.lastRelist === 0 || this.listed.has(uid);',
    to: 'return this.listed.has(uid);',
  },
  {
    name: 'late-last-report',
    breaks: 'the last report of a pod comes after its end, and a pod that comes back under its UID remembers it',
    file: 'actors/shard/shard.ts',
    from: "if (effect.type !== 'pod.Finished') this.carryOut(pod, effect, message.at);\n    // Last: a report told after it would be taken for one of a pod that comes back under this UID.\n    for (const effect of effects) if (effect.type === 'pod.Finished') this.carryOut(pod, effect, message.at);",
    to: 'this.carryOut(pod, effect, message.at);',
  },
  {
    name: 'other-stop-goes-on',
    breaks: 'a container that is stopped for another reason keeps its longer grace when its pod is deleted',
    file: 'machines/pod/termination.ts',
    from: '(stopping && (again || tooLong))',
    to: '(stopping && again)',
  },
  {
    name: 'waiting-pod-leaves-remains',
    breaks: 'what runs of a pod that is removed while it waits for its name is left alone',
    file: 'actors/supervisor/supervisor.ts',
    from: 'if (this.options.held?.(uid) === true) this.options.observe?.(uid);',
    to: 'if (this.options.held?.(uid) === undefined) this.options.observe?.(uid);',
  },
  {
    name: 'no-grace',
    breaks: 'containers of a pod that ends are killed at once',
    file: 'machines/pod/termination.ts',
    from: 'orderKills(draft, left, false);',
    to: 'orderKills(draft, 0, false);',
    seed: 1,
  },
  {
    name: 'longer-grace',
    breaks: 'a pod gets a minute more than it asked for',
    file: 'machines/pod/termination.ts',
    from: 'graceSeconds: wanted,',
    to: 'graceSeconds: wanted + 60,',
    seed: 1,
  },
  {
    name: 'sidecars-first',
    breaks: 'sidecars do not wait for their turn to end',
    file: 'machines/pod/termination.ts',
    from: "waitTurn: kind === 'sidecar',",
    to: 'waitTurn: false,',
    seed: 1,
  },
  {
    name: 'sandbox-under-containers',
    breaks: 'the sandbox is stopped while containers still have grace',
    file: 'machines/pod/termination.ts',
    from: 'if (running.length > 0 || stopping.length > 0) {',
    to: 'if (running.length > 1000) {',
    seed: 1,
  },
  {
    name: 'cgroup-stays',
    breaks: "a pod's cgroup is not removed",
    file: 'machines/pod/clean-up.ts',
    from: "const gone = want(draft, 'cgroup.remove', (key) => ({ type: 'host.RemovePodCgroup', key, params: { path } }));",
    to: 'const gone = path !== "";',
    seed: 2,
  },
  {
    name: 'sandbox-stays',
    breaks: "a pod's sandboxes are not removed",
    file: 'machines/pod/clean-up.ts',
    from: 'for (const s of context.observed?.sandboxes ?? []) {\n    all = false;',
    to: 'for (const s of [] as { id: string }[]) {\n    all = false;',
    seed: 1,
  },
  {
    name: 'never-is-always',
    breaks: 'containers are restarted whatever the restart policy says',
    file: 'machines/pod/spec.ts',
    from: "return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);",
    to: 'return policy !== "" && exitCode >= 0;',
    seed: 1,
  },
  {
    name: 'no-back-off',
    breaks: 'a container that crashes is started again at once',
    file: 'machines/container/back-off.ts',
    from: 'return at < until ? until : null;',
    to: 'return at < until - 1e9 ? until : null;',
    seed: 1,
  },
  {
    name: 'init-order',
    breaks: 'init containers that failed count as done',
    file: 'machines/pod/container-plan.ts',
    from: "if (seen.state === 'exited' && kind === 'init' && seen.exitCode === 0) {",
    to: "if (seen.state === 'exited' && kind === 'init') {",
    seed: 1,
  },
  {
    name: 'old-looks-count',
    breaks: 'a look that began before an own call is newer than it',
    file: 'machines/pod/observation.ts',
    from: 'const newer = (id: string) => (context.fresh[id] ?? 0) >= seen.at;',
    to: 'const newer = (id: string) => (context.fresh[id] ?? 0) > 1e15;',
    seed: 1,
  },
  {
    name: 'older-looks-count',
    breaks: 'a look that is older than the last one is taken in',
    file: 'machines/pod/observation.ts',
    from: 'if (before !== null && seen.at < before.at) {',
    to: 'if (before !== null && seen.at < 0) {',
  },
  {
    name: 'late-endings-are-lost',
    breaks: 'what a look saw that took long is dropped, though it saw an end',
    file: 'machines/pod/observation.ts',
    from: "if (observed === null || !behaves(context.settings, 'endingsAreFinal')) return;",
    to: 'if (observed === null || seen.at > 0) return;',
  },
  {
    name: 'stop-overtakes-start',
    breaks: 'a container is told to stop while it is being started, and not again when it was',
    file: 'machines/container/container-guards.ts',
    from: "return behaves(world.settings, 'stopsAfterStart');",
    to: 'return world.at < 0;',
  },
  {
    name: 'mirror-not-made-anew',
    breaks: 'a static pod whose file was put back while it ended is shown by nothing',
    file: 'actors/mirror-pods/mirror-pods.ts',
    from: 'if (this.unshown || state',
    to: 'if (state',
  },
  {
    name: 'told-is-forgotten',
    breaks: 'a worker that is replaced knows nothing of what the one before told',
    file: 'actors/supervisor/supervisor.ts',
    from: 'if (told === undefined) return pod;',
    to: 'if (told !== null) return pod;',
  },
  {
    name: 'orphans-live',
    breaks: 'pods that only the runtime knows are left alone',
    file: 'machines/supervisor/supervisor-step.ts',
    from: 'if (observed.sandboxes.length === 0 && observed.containers.length === 0) return;',
    to: 'if (observed.sandboxes.length < 1000) return;',
    seed: 26,
  },
  {
    name: 'two-of-a-name',
    breaks: 'a pod does not wait for its predecessor of the same name',
    file: 'machines/supervisor/supervisor-step.ts',
    from: 'if (!predecessorOf(turn, tracked)) start(turn, tracked);',
    to: 'start(turn, tracked);',
    seed: 3,
  },
  {
    name: 'successor-forgotten',
    breaks: 'a pod that waited for its predecessor is never started',
    file: 'machines/supervisor/supervisor-step.ts',
    from: 'if (next !== undefined && !predecessorOf(turn, next)) start(turn, next);',
    to: 'if (next !== undefined && predecessorOf(turn, next)) start(turn, next);',
  },
  {
    name: 'clock-in-a-machine',
    breaks: 'a machine reads the clock, so its journal does not replay',
    file: 'machines/pod/termination.ts',
    from: '      since: draft.at,\n      graceSeconds: wanted,',
    to: '      since: Date.now(),\n      graceSeconds: wanted,',
    seed: 1,
  },
  {
    name: 'deleted-too-early',
    breaks: 'a pod is removed from the API before it is cleaned up',
    file: 'actors/status/status-entry.ts',
    from: '    CLEANED.has(entry.report.state) &&\n    isTerminalPhase(api.status.phase);',
    to: "    entry.report.state !== '';",
    seed: 1,
  },
  {
    name: 'pull-place-lost',
    breaks: 'a pull never gives its place in the queue back',
    file: 'actors/images/image-puller.ts',
    from: 'this.active--;',
    to: 'this.active += 0;',
    seed: 2,
  },
  {
    name: 'deadline-ignored',
    breaks: 'activeDeadlineSeconds has no effect',
    file: 'machines/pod/sync-plan.ts',
    from: 'if (deadline === null || draft.at < deadline) return false;',
    to: 'if (deadline !== null || draft.at < 0) return false;',
    seed: 3,
  },
  {
    name: 'expired-watch-goes-on',
    breaks: 'after 410 the same old version is asked for again',
    file: 'actors/api/reflector.ts',
    from: 'if (isExpired(failure) || isTooNew(failure)) {',
    to: 'if (isTooNew(failure)) {',
    seed: 1,
  },
  {
    name: 'restart-forgotten',
    breaks: 'a restarted agent restarts what it finds',
    file: 'machines/pod/container-plan.ts',
    from: "if (seen.hash !== '' && seen.hash !== containerHash(container)) {",
    to: "if (context.adopted.includes(seen.id) || (seen.hash !== '' && seen.hash !== containerHash(container))) {",
    seed: 2,
  },
];
