import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { failure } from './rest-rules.ts';
import { selects } from './object-store.ts';
import type { ObjectStore, Selection, StoredChange } from './object-store.ts';
import type { StoredObject } from './stored-object.ts';

/** One open watch: writes events as JSON lines until it is cut, its timeout comes or the client goes. */
export class FakeWatch {
  readonly selection: Selection;
  private readonly store: ObjectStore;
  private readonly response: ServerResponse & Partial<Pick<Http2ServerResponse, 'stream'>>;
  private readonly timers: NodeJS.Timeout[] = [];
  private readonly unlisten: () => void;
  private readonly initial: boolean;

  constructor(
    store: ObjectStore,
    selection: Selection,
    response: ServerResponse & Partial<Pick<Http2ServerResponse, 'stream'>>,
    query: Record<string, string>,
    bookmarkMs: number,
  ) {
    this.store = store;
    this.selection = selection;
    this.response = response;
    this.initial = query.sendInitialEvents === 'true';
    response.writeHead(200, { 'content-type': 'application/json' });
    if (response.stream === undefined) response.flushHeaders();
    const from = Number(query.resourceVersion ?? '0');
    if (from !== 0 && from < store.compacted) {
      this.line('ERROR', failure(410, 'Expired', `too old resource version: ${String(from)}`).body);
      this.unlisten = () => undefined;
      response.end();
      return;
    }
    if (from === 0 || this.initial) for (const each of store.list(selection)) this.line('ADDED', each);
    else for (const change of store.since(from)) this.tell(change);
    // With `sendInitialEvents` a bookmark says that the state is complete (KEP-3157).
    if (this.initial) this.bookmark({ 'k8s.io/initial-events-end': 'true' });
    this.unlisten = store.listen((change) => this.tell(change));
    if (query.allowWatchBookmarks === 'true' && bookmarkMs > 0) {
      this.timers.push(setInterval(() => this.bookmark(), bookmarkMs));
    }
    const seconds = Number(query.timeoutSeconds ?? '0');
    if (seconds > 0) this.timers.push(setTimeout(() => this.end(), seconds * 1000));
    response.on('close', () => this.release());
  }

  /** Sends a BOOKMARK with the newest resource version. */
  bookmark(annotations?: Record<string, string>): void {
    const [group = '', version = ''] = this.selection.collection.split('/');
    const apiVersion = group === '' ? version : `${group}/${version}`;
    this.line('BOOKMARK', {
      apiVersion,
      metadata: { resourceVersion: String(this.store.version), ...(annotations && { annotations }) },
    });
  }

  /** Sends an ERROR event and ends. */
  error(code: number, reason: string, message: string): void {
    this.line('ERROR', failure(code, reason, message).body);
    this.end();
  }

  /** Ends as the server does when the watch's time is over. */
  end(): void {
    this.release();
    this.response.end();
  }

  /** Breaks the connection in the middle. */
  cut(): void {
    this.release();
    if (this.response.stream !== undefined) this.response.stream.close(2);
    else this.response.destroy();
  }

  private tell(change: StoredChange): void {
    if (change.collection !== this.selection.collection) return;
    const is = change.type !== 'DELETED' && selects(this.selection, change.object);
    const was = change.before !== undefined && selects(this.selection, change.before);
    if (is) this.line(was ? 'MODIFIED' : 'ADDED', change.object);
    else if (was) this.line('DELETED', change.object);
  }

  private line(type: string, object: unknown): void {
    this.response.write(`${JSON.stringify({ type, object: object as StoredObject })}\n`);
  }

  private release(): void {
    this.unlisten();
    for (const timer of this.timers) clearTimeout(timer);
  }
}
