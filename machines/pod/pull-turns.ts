import type { PullPlace } from '../protocol/pull-place.ts';
import { pullWords } from '../images/pull-words.ts';
import type { ToldPull } from '../images/told-pull.ts';
import { specContainer } from './spec.ts';
import type { Draft } from './draft.ts';
import type { PodContext } from './pod-context.ts';

/** The queue of pulls has spoken (`pull.turn`): a pull of this pod waits there, or its turn has come. */
export function takePullTurn({ context, at }: Draft, key: string, place: PullPlace | null): void {
  if (place !== null) {
    context.pullTurns = { ...context.pullTurns, [key]: { since: at, place, begunAt: 0 } };
    return;
  }
  const told = context.pullTurns?.[key];
  if (told !== undefined) context.pullTurns = { ...context.pullTurns, [key]: { ...told, begunAt: at } };
}

/** The pull of this key has ended, or nobody waits for it any more. */
export function forgetPullTurn({ context }: Draft, key: string): void {
  if (context.pullTurns?.[key] === undefined) return;
  const { [key]: _over, ...rest } = context.pullTurns;
  if (Object.keys(rest).length > 0) context.pullTurns = rest;
  else delete context.pullTurns;
}

/** What the pod was told of the pull that a container waits for; undefined when it began at once. */
export function pullOfContainer({ pullTurns, containers }: PodContext, name: string): ToldPull | undefined {
  return pullTurns?.[containers[name]?.context.op ?? ''];
}

/** What the pod was told of the pull that an image volume waits for. */
export function pullOfVolume({ pullTurns, tasks }: PodContext, name: string): ToldPull | undefined {
  return pullTurns?.[tasks[`imagePull/${name}`]?.key ?? ''];
}

/** `web: image nginx is being pulled`. */
export function containerPullWords(context: PodContext, name: string): string {
  const image = specContainer(context.pod, name)?.container.image ?? '';
  return `${name}: ${pullWords(image, pullOfContainer(context, name))}`;
}

/** `web: volume model: image registry/model is being pulled`, or looked for. */
export function volumePullWords(context: PodContext, container: string, name: string): string {
  const image = context.pod.spec?.volumes?.find((volume) => volume.name === name)?.image?.reference ?? '';
  const pulls = context.tasks[`imagePull/${name}`]?.state === 'running';
  const words = pulls
    ? pullWords(image, pullOfVolume(context, name))
    : `the runtime is asked whether image ${image} is there`;
  return `${container}: volume ${name}: ${words}`;
}
