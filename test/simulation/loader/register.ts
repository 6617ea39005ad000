import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { join } from 'node:path';
import type * as BrokenSources from '../mutations/broken-source.ts';
import { mutations } from '../mutations/list.ts';

const here = fileURLToPath(new URL('..', import.meta.url));
const root = join(here, '../..');
const redirected: Readonly<Record<string, string>> = {
  'node:timers/promises': pathToFileURL(join(here, 'world/timers-promises.ts')).href,
};
const stepModule = pathToFileURL(join(root, 'machines/pod/pod-step.ts')).href;
const watchedSteps = pathToFileURL(join(here, 'world/watched-steps.ts')).href;
const placeModule = pathToFileURL(join(root, 'machines/machine-step/step.ts')).href;
const watchedPlaces = pathToFileURL(join(here, 'world/watched-places.ts')).href;
const storage = (name: string): string => pathToFileURL(join(here, 'world/storage', name)).href;
/** What makes volumes of claims acts on the machine of the simulation. */
const storageRooms = [
  ...['actors/resources/csi/', 'actors/resources/volumes/'],
  ...['actors/host/files/loop-devices.ts', 'actors/host/files/what-is-there.ts'],
].map((room) => pathToFileURL(join(root, room)).href);
const simulatedStorage: Readonly<Record<string, string>> = {
  'node:fs/promises': storage('fs-promises.ts'),
  [pathToFileURL(join(root, 'actors/host/files/mounts.ts')).href]: storage('host-mounts.ts'),
  [pathToFileURL(join(root, 'actors/host/files/mountinfo.ts')).href]: storage('host-mountinfo.ts'),
  [pathToFileURL(join(root, 'actors/host/files/remove-tree.ts')).href]: storage('host-remove-tree.ts'),
  [pathToFileURL(join(root, 'actors/resources/csi/node-client.ts')).href]: storage('csi-node-client.ts'),
};
const ofTests = pathToFileURL(here).href;
const declaredPods = pathToFileURL(join(root, 'actors/record/machines/pods.ts')).href;

let registered = false;

/**
 * From now on modules of the agent get `node:timers/promises` of virtual time, and the hosts of pods their steps through
 * `world/watched-steps.ts`; all machines step through `world/watched-places.ts`. With the name of a mutation, that rule is broken in the source as it is loaded.
 * To be called before anything of the agent is imported.
 *
 * @throws Error when what the mutation breaks is not there any more
 */
export function registerSimulationHooks(mutation?: string): void {
  if (registered) return;
  registered = true;
  const broken = mutation === undefined ? undefined : brokenBy(mutation);
  const brokenUrl = broken && pathToFileURL(join(root, broken.file)).href;
  registerHooks({
    resolve: (specifier, context, next) => {
      const target = redirected[specifier];
      if (target !== undefined && context.parentURL?.startsWith(pathToFileURL(root).href) === true)
        return { url: target, shortCircuit: true };
      const inStorage = storageRooms.some((room) => context.parentURL?.startsWith(room) === true);
      const replaced = inStorage ? simulatedStorage[specifier] : undefined;
      if (replaced !== undefined) return { url: replaced, shortCircuit: true };
      const resolved = next(specifier, context);
      const simulated = inStorage ? simulatedStorage[resolved.url] : undefined;
      if (simulated !== undefined) return { ...resolved, url: simulated };
      if (resolved.url === stepModule && context.parentURL === declaredPods) return { ...resolved, url: watchedSteps };
      if (resolved.url === placeModule && context.parentURL?.startsWith(ofTests) === false)
        return { ...resolved, url: watchedPlaces };
      return resolved;
    },
    load: (url, context, next) => {
      if (broken === undefined || url !== brokenUrl) return next(url, context);
      return { format: 'module-typescript', source: broken.source, shortCircuit: true };
    },
  });
}

/** Only a run with a mutation pays for loading the compiler. */
function brokenBy(name: string): BrokenSources.BrokenSource {
  const mutation = mutations.find((other) => other.name === name);
  if (mutation === undefined) throw new Error(`no mutation ${name}`);
  const { brokenSource } = createRequire(import.meta.url)('../mutations/broken-source.ts') as typeof BrokenSources;
  return brokenSource(mutation);
}
