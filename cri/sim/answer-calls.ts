import { Metadata, status } from '@grpc/grpc-js';
import type { handleUnaryCall, UntypedServiceImplementation } from '@grpc/grpc-js';
import { CallContext } from './call-context.ts';
import { factsOf } from './call-facts.ts';
import type { EventStream } from './event-hub.ts';
import { NO_FACTS } from './glob.ts';
import type { Facts } from './glob.ts';
import { SELF_PACED } from './handlers.ts';
import { RpcError, scripted } from './rpc-error.ts';
import type { FaultRule } from './script.ts';
import type { SimCore } from './sim-core.ts';

/** A handler of any RPC, as the pipeline sees it. */
type AnyHandler = (request: object, call: CallContext) => unknown;

/** Calls in progress of one server, so that a restart can end them. */
export type CallsInProgress = Set<CallContext>;

/** Wraps handlers with what each call goes through: count, fault, delay, handler, fault, journal. */
export function answerCalls(
  core: SimCore,
  handlers: object,
  inProgress: CallsInProgress,
): UntypedServiceImplementation {
  const service: UntypedServiceImplementation = {};
  for (const [method, handler] of Object.entries(handlers)) {
    service[method] = answerUnary(core, rpcName(method), handler as AnyHandler, inProgress);
  }
  return service;
}

/** GetContainerEvents, with the same faults; Unimplemented when the script says so. */
export function answerEvents(core: SimCore, inProgress: CallsInProgress): (stream: EventStream) => void {
  return (stream) => {
    const call = new CallContext(core.timers);
    const facts: Facts = { ...NO_FACTS, rpc: 'GetContainerEvents' };
    core.calls.began(facts.rpc);
    const at = Date.now();
    inProgress.add(call);
    stream.on('cancelled', () => call.abort());
    const open = async (): Promise<void> => {
      await strike(core, core.faults.take(facts, 'before'), call);
      if (!core.plan.runtime.supportsEvents) {
        throw new RpcError(status.UNIMPLEMENTED, 'method GetContainerEvents not implemented');
      }
      core.events.subscribe(stream);
    };
    open().then(
      () => finish(core, facts, at, status.OK, call, inProgress),
      (error: unknown) => {
        finish(core, facts, at, codeOf(error), call, inProgress);
        stream.emit('error', error);
      },
    );
  };
}

function answerUnary(
  core: SimCore,
  rpc: string,
  handler: AnyHandler,
  inProgress: CallsInProgress,
): handleUnaryCall<object, unknown> {
  return (unary, callback) => {
    const call = new CallContext(core.timers);
    const facts = factsOf(rpc, unary.request, core.sandboxes, core.containers);
    core.calls.began(rpc);
    const at = Date.now();
    inProgress.add(call);
    unary.on('cancelled', () => call.abort());
    answer(core, facts, handler, unary.request, call).then(
      (response) => {
        finish(core, facts, at, status.OK, call, inProgress);
        callback(null, response);
      },
      (error: unknown) => {
        finish(core, facts, at, codeOf(error), call, inProgress);
        callback({ code: codeOf(error), details: textOf(error), metadata: new Metadata() });
      },
    );
  };
}

async function answer(
  core: SimCore,
  facts: Facts,
  handler: AnyHandler,
  request: object,
  call: CallContext,
): Promise<unknown> {
  if (!core.faults.idle) {
    await strike(core, core.faults.take(facts, 'before'), call);
    call.setWork(core.faults.duration(facts));
  }
  if (!SELF_PACED.has(facts.rpc)) await call.work();
  const response = await handler(request, call);
  if (!core.faults.idle) await strike(core, core.faults.take(facts, 'after'), call);
  return response;
}

async function strike(core: SimCore, fault: FaultRule | undefined, call: CallContext): Promise<void> {
  if (fault === undefined) return;
  if (fault.fail !== undefined) throw scripted(fault.fail);
  if (fault.hang !== undefined) await core.hangs.hold(call, fault.hang === 'forever' ? undefined : fault.hang);
}

function finish(
  core: SimCore,
  facts: Facts,
  at: number,
  code: number,
  call: CallContext,
  inProgress: CallsInProgress,
): void {
  inProgress.delete(call);
  core.calls.ended({
    rpc: facts.rpc,
    at,
    ms: Date.now() - at,
    code,
    pod: facts.pod === '' ? '' : `${facts.namespace}/${facts.pod}`,
    container: facts.container,
  });
}

function codeOf(error: unknown): status {
  return error instanceof RpcError ? error.code : status.UNKNOWN;
}

function textOf(error: unknown): string {
  return error instanceof RpcError ? error.details : `simulated runtime: ${String(error)}`;
}

/** `runPodSandbox` -> `RunPodSandbox`. */
function rpcName(method: string): string {
  return method.charAt(0).toUpperCase() + method.slice(1);
}
