import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import { ActorletError } from '../../machines/errors/define.ts';
import { journalErrors } from '../../machines/errors/journal-errors.ts';
import type { JournalRecord } from './records.ts';
import { JOURNAL_VERSION, journalRecord } from './records.ts';

/** One line of a journal with its place. */
export interface JournalLine {
  file: string;
  line: number;
  text: string;
}

/** Journal files behind the given paths: files as they are, folders by their segments in name order. */
export async function journalFiles(paths: string[]): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths) {
    try {
      if ((await stat(path)).isDirectory()) {
        const names = (await readdir(path)).filter((n) => /\.jsonl(\.gz)?$/.test(n)).sort();
        files.push(...names.map((n) => join(path, n)));
      } else files.push(path);
    } catch (error) {
      throw new ActorletError(journalErrors.unreadableFile, {
        file: path,
        problem: error instanceof Error ? error.message : String(error),
      });
    }
  }
  return files;
}

/** Lines of the files, in order; `.gz` files are read through gunzip. */
export async function* journalLines(files: string[]): AsyncGenerator<JournalLine> {
  for (const file of files) {
    let line = 0;
    try {
      const raw = createReadStream(file, { highWaterMark: 1 << 20 });
      const input = file.endsWith('.gz') ? raw.pipe(createGunzip()) : raw;
      raw.on('error', (error) => input.destroy(error));
      for await (const text of createInterface({ input, crlfDelay: Infinity })) {
        line++;
        if (text !== '') yield { file, line, text };
      }
    } catch (error) {
      throw new ActorletError(journalErrors.unreadableFile, {
        file,
        problem: error instanceof Error ? error.message : String(error),
      });
    }
  }
}

/** Parses and validates a line. Throws JRN002 or JRN003 that names file and line. */
export function parseLine({ file, line, text }: JournalLine): JournalRecord {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch (error) {
    throw new ActorletError(journalErrors.badRecord, {
      file,
      line,
      problem: error instanceof Error ? error.message : String(error),
    });
  }
  const parsed = journalRecord.safeParse(raw);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new ActorletError(journalErrors.badRecord, {
      file,
      line,
      problem: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'unknown shape'}`,
    });
  }
  if ((parsed.data.r === 'segment' || parsed.data.r === 'sup.segment') && parsed.data.v !== JOURNAL_VERSION) {
    throw new ActorletError(journalErrors.unknownVersion, {
      file,
      line,
      version: parsed.data.v,
      known: JOURNAL_VERSION,
    });
  }
  return parsed.data;
}
