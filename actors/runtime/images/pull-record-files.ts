import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { intentText, readIntent, readRecord, recordText } from '../../../machines/images/pull-record.ts';
import type { ImagePulledRecord, ReadRecord } from '../../../machines/images/pull-record.ts';

const PREFIX = 'sha256-';
const UNFINISHED = '.tmp';

/** Sizes for the metrics. */
export interface RecordCounts {
  intents: number;
  records: number;
}

/**
 * Records of image pulls below `<root>/image_manager/{pulling,pulled}`, in kubelet's own files: a node that goes from
 * one agent to the other keeps them. Everything is read once, at the start; writes go to disk before they count.
 */
export class PullRecordFiles {
  private readonly pulling: string;
  private readonly pulled: string;
  private readonly intents = new Set<string>();
  private readonly records = new Map<string, ImagePulledRecord>();
  /** Paths of files that cannot be read: what they stood for is not known. */
  private readonly damaged = new Set<string>();
  private readonly log: Logger;

  /** Makes the folders below the agent's root folder and reads what is there. */
  constructor(rootDir: string, log: Logger) {
    this.log = log;
    this.pulling = join(rootDir, 'image_manager', 'pulling');
    this.pulled = join(rootDir, 'image_manager', 'pulled');
    for (const dir of [this.pulling, this.pulled]) mkdirSync(dir, { recursive: true, mode: 0o700 });
    this.readAll(this.pulling, readIntent, (image) => this.intents.add(image), intentText);
    this.readAll(this.pulled, readRecord, (record) => this.records.set(record.imageRef, record), recordText);
  }

  /** Images whose pull was under way, as containers spell them. */
  listIntents(): string[] {
    return [...this.intents];
  }

  /** @throws Error when its file is there and cannot be read */
  hasIntent(image: string): boolean {
    this.assertReadable(join(this.pulling, fileName(image)));
    return this.intents.has(image);
  }

  /** @throws Error of the file system */
  writeIntent(image: string): void {
    this.write(this.pulling, image, intentText(image));
    this.intents.add(image);
  }

  /** @throws Error of the file system */
  removeIntent(image: string): void {
    rmSync(join(this.pulling, fileName(image)), { force: true });
    this.intents.delete(image);
  }

  /** All readable records. */
  listRecords(): ImagePulledRecord[] {
    return [...this.records.values()];
  }

  /** @throws Error when its file is there and cannot be read */
  record(imageRef: string): ImagePulledRecord | undefined {
    this.assertReadable(join(this.pulled, fileName(imageRef)));
    return this.records.get(imageRef);
  }

  /** @throws Error of the file system */
  writeRecord(record: ImagePulledRecord): void {
    this.write(this.pulled, record.imageRef, recordText(record));
    this.records.set(record.imageRef, record);
  }

  /** @throws Error of the file system */
  removeRecord(imageRef: string): void {
    rmSync(join(this.pulled, fileName(imageRef)), { force: true });
    this.records.delete(imageRef);
  }

  get counts(): RecordCounts {
    return { intents: this.intents.size, records: this.records.size };
  }

  private assertReadable(path: string): void {
    if (this.damaged.has(path)) throw new Error(`the record ${path} cannot be read`);
  }

  /** A crash leaves the old content or the new one, never a part. */
  private write(dir: string, key: string, text: string): void {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const path = join(dir, fileName(key));
    try {
      writeFileSync(path + UNFINISHED, text, { mode: 0o600 });
      renameSync(path + UNFINISHED, path);
    } catch (error) {
      rmSync(path + UNFINISHED, { force: true });
      throw error;
    }
    this.damaged.delete(path);
  }

  /** Takes what can be read; an older version is written anew, as kubelet does. */
  private readAll<T>(
    dir: string,
    read: (text: string) => ReadRecord<T>,
    take: (value: T) => void,
    text: (value: T) => string,
  ): void {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      if (entry.isDirectory() || !entry.name.startsWith(PREFIX) || entry.name.endsWith(UNFINISHED)) continue;
      const path = join(dir, entry.name);
      try {
        const found = read(readFileSync(path, 'utf8'));
        if ('fault' in found) throw new Error(found.fault);
        if (found.outdated) {
          writeFileSync(path + UNFINISHED, text(found.value), { mode: 0o600 });
          renameSync(path + UNFINISHED, path);
        }
        take(found.value);
      } catch (err) {
        this.damaged.add(path);
        this.log.error({ err, file: path }, 'Cannot read a record of image pulls');
      }
    }
  }
}

function fileName(key: string): string {
  return PREFIX + createHash('sha256').update(key).digest('hex');
}
