import { nodeResources } from './node-resources.ts';
import type { ResourceManager } from './resource-manager.ts';

/** All of them, in the order in which they are asked; a new one is added here (docs/architecture.md). */
export const RESOURCE_MANAGERS: readonly ResourceManager[] = [nodeResources as ResourceManager];
