import type { PersistentVolume } from '../protocol/storage-types.ts';

const ZONE = 'topology.kubernetes.io/zone';
const REGION = 'topology.kubernetes.io/region';
const BETA_ZONE = 'failure-domain.beta.kubernetes.io/zone';
const BETA_REGION = 'failure-domain.beta.kubernetes.io/region';

/** Stands between zones of one label. */
export const ZONES_APART = '__';

type Affinity = NonNullable<PersistentVolume['spec']>['nodeAffinity'];
type Place = Pick<PersistentVolume, 'metadata'> & { affinity: Affinity };

/** Labels of a PV's zones, whichever generation it has. */
export function zonesLabel({ metadata }: PersistentVolume): string {
  const labels = metadata?.labels ?? {};
  return own(labels, BETA_ZONE) || own(labels, ZONE) || '';
}

/** The PV's node affinity by the driver's own key of zones; where it has none, by the PV's labels. A region of the old kind gets its new name. */
export function zonalAffinity(pv: PersistentVolume, key: string): Affinity {
  const place = placeOf(pv);
  const [zone, region] = labelsOf(place);
  const found = hasValues(place.affinity, zone);
  const zones = own(pv.metadata?.labels ?? {}, zone)?.split(ZONES_APART) ?? [];
  const moved = found ? renamed(place.affinity, zone, key) : added(place.affinity, key, zones);
  return region === BETA_REGION && hasValues(moved, region) ? renamed(moved, region, REGION) : moved;
}

/** The same with two keys, of zones and regions, each label being one place. */
export function regionalAffinity(pv: PersistentVolume, zoneKey: string, regionKey: string): Affinity {
  let { affinity } = placeOf(pv);
  const labels = labelsOf(placeOf(pv));
  for (const [at, key] of [zoneKey, regionKey].entries()) {
    const label = labels[at] ?? '';
    const value = own(pv.metadata?.labels ?? {}, label) ?? '';
    if (hasValues(affinity, label)) affinity = renamed(affinity, label, key);
    else if (value !== '') affinity = added(affinity, key, [value]);
  }
  return affinity;
}

function placeOf({ metadata, spec }: PersistentVolume): Place {
  return { ...(metadata && { metadata }), affinity: spec?.nodeAffinity };
}

/** By which labels the PV tells its place. */
function labelsOf({ metadata, affinity }: Place): readonly [zone: string, region: string] {
  const labels = metadata?.labels ?? {};
  if (hasKey(affinity, ZONE)) return [ZONE, REGION];
  if (hasKey(affinity, BETA_ZONE)) return [BETA_ZONE, BETA_REGION];
  if (own(labels, ZONE) !== undefined) return [ZONE, REGION];
  if (own(labels, BETA_ZONE) !== undefined) return [BETA_ZONE, BETA_REGION];
  return [ZONE, REGION];
}

function terms(affinity: Affinity) {
  return affinity?.required?.nodeSelectorTerms ?? [];
}

function hasKey(affinity: Affinity, key: string): boolean {
  return terms(affinity).some(({ matchExpressions }) => matchExpressions?.some((each) => each.key === key));
}

function hasValues(affinity: Affinity, key: string): boolean {
  return terms(affinity).some(({ matchExpressions }) =>
    matchExpressions?.some((each) => each.key === key && (each.values ?? []).length > 0),
  );
}

function renamed(affinity: Affinity, from: string, to: string): Affinity {
  const nodeSelectorTerms = terms(affinity).map((term) => ({
    ...term,
    ...(term.matchExpressions && {
      matchExpressions: term.matchExpressions.map((each) => (each.key === from ? { ...each, key: to } : each)),
    }),
  }));
  return { ...affinity, required: { ...affinity?.required, nodeSelectorTerms } };
}

/** Each term, and one that is made where there is none, asks for one of the zones; none are left out. */
function added(affinity: Affinity, key: string, zones: readonly string[]): Affinity {
  const values = [...new Set(zones.map((zone) => zone.trim()).filter((zone) => zone !== ''))].sort();
  if (values.length === 0) return affinity;
  const before = terms(affinity);
  const nodeSelectorTerms = (before.length === 0 ? [{}] : before).map((term) => ({
    ...term,
    matchExpressions: [
      ...(('matchExpressions' in term && term.matchExpressions) || []),
      { key, operator: 'In', values },
    ],
  }));
  return { ...affinity, required: { ...affinity?.required, nodeSelectorTerms } };
}

function own(labels: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(labels, key) ? labels[key] : undefined;
}
