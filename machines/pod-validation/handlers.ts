import type { Container, Pod, Probe } from '../protocol/api-types.ts';
import { headerName, named, portName, portNumber } from './names.ts';
import { forbidden, invalid, notSupported, type Problems, required } from './problem.ts';

type Lifecycle = NonNullable<Container['lifecycle']>;
type Hook = NonNullable<Lifecycle['postStart']>;
type Handler = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> & Pick<Hook, 'sleep'>;
type HttpGet = NonNullable<Probe['httpGet']>;
type ProbeKind = 'livenessProbe' | 'readinessProbe' | 'startupProbe';

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;

const SIGNALS = (
  'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP ' +
  'TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX'
)
  .split(' ')
  .concat(Array.from({ length: 15 }, (_, i) => `RTMIN+${i + 1}`))
  .concat(Array.from({ length: 14 }, (_, i) => `RTMAX-${i + 1}`))
  .map((name) => `SIG${name}`);

/** A port by number or by name. */
function* port(field: string, value: number | string | undefined): Problems {
  if (typeof value === 'string') yield* named(field, value, portName);
  else for (const rule of portNumber(value ?? 0)) yield invalid(field, value ?? 0, rule);
}

function* httpGet(field: string, action: HttpGet): Problems {
  if (!action.path) yield required(`${field}.path`);
  yield* port(`${field}.port`, action.port);
  if (action.scheme !== 'HTTP' && action.scheme !== 'HTTPS') {
    yield notSupported(`${field}.scheme`, action.scheme ?? '', ['HTTP', 'HTTPS']);
  }
  for (const header of action.httpHeaders ?? []) yield* named(`${field}.httpHeaders`, header.name ?? '', headerName);
}

/** Exactly one handler, and that one correct. `grace`: the pod's terminationGracePeriodSeconds, the limit of a sleep. */
function* handler(field: string, given: Handler, grace: number | undefined): Problems {
  const set = HANDLERS.filter((kind) => given[kind] !== undefined);
  const first = set[0];
  if (first === undefined) yield required(field, 'must specify a handler type');
  for (const extra of set.slice(1)) yield forbidden(`${field}.${extra}`, 'may not specify more than 1 handler type');
  if (first === 'exec' && !given.exec?.command?.length) yield required(`${field}.exec.command`);
  if (first === 'httpGet' && given.httpGet) yield* httpGet(`${field}.httpGet`, given.httpGet);
  if (first === 'tcpSocket') yield* port(`${field}.tcpSocket.port`, given.tcpSocket?.port);
  if (first === 'grpc') yield* port(`${field}.grpc.port`, given.grpc?.port);
  const seconds = given.sleep?.seconds ?? 0;
  if (first === 'sleep' && grace !== undefined && (seconds < 0 || seconds > grace)) {
    yield invalid(
      `${field}.sleep`,
      seconds,
      `must be non-negative and less than terminationGracePeriodSeconds (${grace})`,
    );
  }
}

function* probe(field: string, kind: ProbeKind, given: Probe, grace: number | undefined): Problems {
  yield* handler(field, given, grace);
  const counts = [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const;
  for (const name of counts) {
    const value = given[name] ?? 0;
    if (value < 0) yield invalid(`${field}.${name}`, value, 'must be greater than or equal to 0');
  }
  const own = given.terminationGracePeriodSeconds;
  if (own !== undefined && own <= 0) {
    yield invalid(`${field}.terminationGracePeriodSeconds`, own, 'must be greater than 0');
  }
  if (kind === 'readinessProbe') {
    if (own !== undefined) {
      yield invalid(`${field}.terminationGracePeriodSeconds`, own, 'must not be set for readinessProbes');
    }
  } else if (given.successThreshold !== 1) {
    yield invalid(`${field}.successThreshold`, given.successThreshold ?? 0, 'must be 1');
  }
}

/** Probes and hooks of a container that may have them. */
export function* handlersOf(path: string, container: Container, spec: NonNullable<Pod['spec']>): Problems {
  const grace = spec.terminationGracePeriodSeconds;
  const { postStart, preStop, stopSignal } = container.lifecycle ?? {};
  if (postStart) yield* handler(`${path}.lifecycle.postStart`, postStart, grace);
  if (preStop) yield* handler(`${path}.lifecycle.preStop`, preStop, grace);
  if (stopSignal !== undefined) {
    const field = `${path}.lifecycle.stopSignal`;
    if (!spec.os) yield forbidden(field, 'may not be set for containers with empty `spec.os.name`');
    else if (!SIGNALS.includes(stopSignal)) yield notSupported(field, stopSignal, SIGNALS);
  }
  for (const kind of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    const given = container[kind];
    if (given) yield* probe(`${path}.${kind}`, kind, given, grace);
  }
}

/** A plain init container ends before the pod is ready: nothing to probe, and no hooks. */
export function* noHandlers(path: string, container: Container): Problems {
  for (const name of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    if (container[name] !== undefined) {
      yield forbidden(`${path}.${name}`, 'may not be set for init containers without restartPolicy=Always');
    }
  }
}
