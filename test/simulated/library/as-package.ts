/**
 * Loaded with `--import`: the names by which others import the package lead to the sources of this checkout, as
 * package.json's `exports` lead to dist/ in an installed one.
 */
import { registerHooks } from 'node:module';

const root = new URL('../../../', import.meta.url);

registerHooks({
  resolve: (specifier, context, next) => {
    if (specifier === 'actorlet') return next(new URL('bin/library.ts', root).href, context);
    const inside = /^actorlet\/((?:machines|cri|actors)\/.+)$/.exec(specifier)?.[1];
    return next(inside === undefined ? specifier : new URL(`${inside}.ts`, root).href, context);
  },
});
