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
    (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
      const have = label(key);
      switch (operator) {
        case 'In':
          return have !== undefined && values.includes(have);
        case 'NotIn':
          return have === undefined || !values.includes(have);
        case 'Exists':
          return have !== undefined;
        case 'DoesNotExist':
          return have === undefined;
        default:
          return false;
      }
    })
  );
}
