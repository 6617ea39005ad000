import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { ActorletError } from '../../../machines/errors/define.ts';
import { inspectorErrors } from '../../../machines/errors/inspector-errors.ts';

/** One file of the page. */
export interface PageFile {
  type: string;
  body: Buffer;
  gzipped: Buffer;
  /** With quotes, as the header has it. */
  etag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/** Where `bin/build` puts the page in a package, seen from `dist/actors/inspect/inspector`. */
const PACKAGED = fileURLToPath(new URL('../../../inspector-page', import.meta.url));
/** In a checkout: the page's source, and what builds it (esbuild is there only as a development dependency). */
const SOURCE = fileURLToPath(new URL('../inspector-page/main.tsx', import.meta.url));
const BUILDER = join(fileURLToPath(new URL('../../../bin', import.meta.url)), 'build-page.ts');

/**
 * The page's files by name: from the package, or built now in a checkout.
 * @param folder instead of those, for tests
 * @throws ActorletError INS001
 */
export async function loadPage(folder?: string): Promise<Map<string, PageFile>> {
  try {
    if (folder !== undefined) return await readPage(folder);
    if (existsSync(join(PACKAGED, 'index.html'))) return await readPage(PACKAGED);
    if (!existsSync(SOURCE) || !existsSync(BUILDER)) throw new Error(`neither ${PACKAGED} nor ${SOURCE} exists`);
    const made = await mkdtemp(join(tmpdir(), 'actorlet-page-'));
    try {
      await promisify(execFile)(process.execPath, [BUILDER, made], { env: { PATH: process.env['PATH'] } });
      return await readPage(made);
    } finally {
      await rm(made, { recursive: true, force: true });
    }
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new ActorletError(inspectorErrors.noPage, { problem }, { cause });
  }
}

async function readPage(folder: string): Promise<Map<string, PageFile>> {
  const files = new Map<string, PageFile>();
  for (const name of await readdir(folder)) {
    const type = TYPES[extname(name)];
    if (type !== undefined) files.set(name, pageFile(type, await readFile(join(folder, name))));
  }
  const index = files.get('index.html');
  if (index === undefined) throw new Error(`${folder} has no index.html`);
  files.set('index.html', pageFile(index.type, Buffer.from(withVersions(index.body.toString('utf8'), files))));
  return files;
}

/** Names each file with its content's hash, so that a browser may keep it for ever and never has an old one. */
function withVersions(html: string, files: ReadonlyMap<string, PageFile>): string {
  return html.replace(/\b(src|href)="(?:\.?\/)?([\w.-]+)"/g, (whole, attribute: string, name: string) => {
    const file = files.get(name);
    return file === undefined ? whole : `${attribute}="/${name}?v=${file.etag.slice(1, -1)}"`;
  });
}

function pageFile(type: string, body: Buffer): PageFile {
  const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`;
  return { type, body, gzipped: gzipSync(body, { level: 9 }), etag };
}
