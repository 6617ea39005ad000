import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { Place } from './step-table.ts';

/** What the list shows of a spec. */
export interface SpecFacts {
  namespace: string;
  name: string;
  containers: number;
}

/** Where each spec stands that messages refer to. It has the same content wherever it stands, so the newest place will do. */
export class SpecPlaces {
  private readonly known = new Map<string, Place & SpecFacts>();

  /** Takes a `spec` record. A spec is parsed once only: it may be of 1 MB, and stands in each segment. */
  take(id: string, line: Buffer, place: Place): void {
    const known = this.known.get(id);
    if (known !== undefined) {
      this.known.set(id, { ...known, ...place });
      return;
    }
    const { pod } = JSON.parse(line.toString('utf8')) as { pod: Pod };
    const { namespace = '', name = '' } = pod.metadata ?? {};
    this.known.set(id, { ...place, namespace, name, containers: pod.spec?.containers.length ?? 0 });
  }

  get(id: string): (Place & SpecFacts) | undefined {
    return this.known.get(id);
  }

  /** Forgets what stands in segments that are gone. */
  drop(gone: (segment: number) => boolean): void {
    for (const [id, { segment }] of this.known) if (gone(segment)) this.known.delete(id);
  }
}
