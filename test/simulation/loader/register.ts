import { registerHooks } from 'node:module';
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { join } from 'node:path';
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
const ofTests = pathToFileURL(here).href;
const declaredPods = pathToFileURL(join(root, 'actors/record/machines/pods.ts')).href;

let registered = false;

/**
 * From now on modules of the agent get `node:timers/promises` of virtual time, and the hosts of pods their steps through
 * `world/watched-steps.ts`; all machines step through `world/watched-places.ts`. With the name of a mutation, that rule is broken in the source as it is loaded.
 * To be called before anything of the agent is imported.
 *
 * @throws Error when the mutation's text is not in its file any more
 */
export function registerSimulationHooks(mutation?: string): void {
  if (registered) return;
  registered = true;
  const broken = mutation === undefined ? undefined : mutations.find(({ name }) => name === mutation);
  if (mutation !== undefined && broken === undefined) throw new Error(`no mutation ${mutation}`);
  const brokenUrl = broken && pathToFileURL(join(root, broken.file)).href;
  registerHooks({
    resolve: (specifier, context, next) => {
      const target = redirected[specifier];
      if (target !== undefined && context.parentURL?.startsWith(pathToFileURL(root).href) === true)
        return { url: target, shortCircuit: true };
      const resolved = next(specifier, context);
      if (resolved.url === stepModule && context.parentURL === declaredPods) return { ...resolved, url: watchedSteps };
      if (resolved.url === placeModule && context.parentURL?.startsWith(ofTests) === false)
        return { ...resolved, url: watchedPlaces };
      return resolved;
    },
    load: (url, context, next) => {
      if (broken === undefined || url !== brokenUrl) return next(url, context);
      const source = readFileSync(fileURLToPath(url), 'utf8');
      if (source.split(broken.from).length !== 2)
        throw new Error(`mutation ${broken.name}: its text is not once in ${broken.file}`);
      return { format: 'module-typescript', source: source.replace(broken.from, broken.to), shortCircuit: true };
    },
  });
}
