/** `metav1.LabelSelector`. */
export interface LabelSelector {
  matchLabels?: Readonly<Record<string, string>>;
  matchExpressions?: readonly { key: string; operator: string; values?: readonly string[] }[];
}

/** Does the selector take an object with these labels? None takes nothing, an empty one everything. */
export function selects(selector: LabelSelector | undefined, labels: Readonly<Record<string, string>>): boolean {
  if (selector === undefined) return false;
  const label = (key: string): string | undefined => (Object.hasOwn(labels, key) ? labels[key] : undefined);
  return (
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => label(key) === value) &&
    (selector.matchExpressions ?? []).every((each) => matchesRequirement(each, label(each.key)))
  );
}

/** Does a label's value (undefined: there is none) meet a requirement? Another operator than the four of a label selector is never met. */
export function matchesRequirement(
  { operator, values = [] }: { operator: string; values?: readonly string[] },
  label: string | undefined,
): boolean {
  switch (operator) {
    case 'In':
      return label !== undefined && values.includes(label);
    case 'NotIn':
      return label === undefined || !values.includes(label);
    case 'Exists':
      return label !== undefined;
    case 'DoesNotExist':
      return label === undefined;
    default:
      return false;
  }
}
