/** `ok`: fine; `warn`: the agent runs, but something will not work; `fail`: the agent cannot run pods. */
export type CheckLevel = 'ok' | 'warn' | 'fail';

/** The outcome of one check of the machine; `cure` is there when `level` is not `ok`. */
export interface CheckResult {
  name: string;
  level: CheckLevel;
  detail: string;
  cure?: string;
}

/** What the checks are told. */
export interface DoctorOptions {
  /** `--root-dir` of the agent. */
  rootDir: string;
  /** `--container-runtime-endpoint`; undefined = a usual socket, else the private containerd. */
  endpoint?: string;
  /** healthz, server and read-only port: 10248, 10250, 10255. */
  ports: readonly number[];
}

/** A check that found everything right. */
export function ok(name: string, detail: string): CheckResult {
  return { name, level: 'ok', detail };
}

/** A check that found something the agent can live with. */
export function warn(name: string, detail: string, cure: string): CheckResult {
  return { name, level: 'warn', detail, cure };
}

/** A check that found what the agent cannot live with. */
export function fail(name: string, detail: string, cure: string): CheckResult {
  return { name, level: 'fail', detail, cure };
}
