import { fields, list, type Shape } from './shape.ts';

const requirement = fields({ key: 'string', operator: 'string', values: list('string') });
const nodeTerm = fields({ matchExpressions: list(requirement), matchFields: list(requirement) });
/** Which other pods a pod wants near or far; only the scheduler reads what is in it. */
const podTerms = fields({
  preferredDuringSchedulingIgnoredDuringExecution: 'any',
  requiredDuringSchedulingIgnoredDuringExecution: 'any',
});

/** `spec.affinity`. */
export const AFFINITY_SHAPE: Shape = fields({
  nodeAffinity: fields({
    preferredDuringSchedulingIgnoredDuringExecution: list(fields({ weight: 'int32', preference: nodeTerm })),
    requiredDuringSchedulingIgnoredDuringExecution: fields({ nodeSelectorTerms: list(nodeTerm) }),
  }),
  podAffinity: podTerms,
  podAntiAffinity: podTerms,
});
