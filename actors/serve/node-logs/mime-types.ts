import { readFileSync } from 'node:fs';
import { extname } from 'node:path';

/** Types that Go knows by itself. */
const builtin: readonly [extension: string, type: string][] = [
  ['.avif', 'image/avif'],
  ['.css', 'text/css; charset=utf-8'],
  ['.gif', 'image/gif'],
  ['.htm', 'text/html; charset=utf-8'],
  ['.html', 'text/html; charset=utf-8'],
  ['.jpeg', 'image/jpeg'],
  ['.jpg', 'image/jpeg'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.json', 'application/json'],
  ['.mjs', 'text/javascript; charset=utf-8'],
  ['.pdf', 'application/pdf'],
  ['.png', 'image/png'],
  ['.svg', 'image/svg+xml'],
  ['.wasm', 'application/wasm'],
  ['.webp', 'image/webp'],
  ['.xml', 'text/xml; charset=utf-8'],
];

const globFiles = ['/usr/local/share/mime/globs2', '/usr/share/mime/globs2'];
const typeFiles = [
  '/etc/mime.types',
  '/etc/apache2/mime.types',
  '/etc/apache/mime.types',
  '/etc/httpd/conf/mime.types',
];

/** Content types by extension, from Go's list and the machine's own one. */
export class MimeTypes {
  readonly #types = new Map(builtin);
  readonly #lower = new Map(builtin);

  /** @param globs content of `globs2` @param lists contents of `mime.types` files, used when there are no globs */
  constructor(globs: string | undefined, lists: readonly string[]) {
    if (globs !== undefined) this.#addGlobs(globs);
    else for (const list of lists) this.#addList(list);
  }

  /** Of this machine. */
  static ofMachine(): MimeTypes {
    const globs = globFiles.map(contentOf).find((content) => content !== undefined);
    return new MimeTypes(globs, globs === undefined ? typeFiles.flatMap((file) => contentOf(file) ?? []) : []);
  }

  /** Type of a file of that name; '' when its extension says nothing. */
  of(name: string): string {
    // Go's extension of `.profile` is `.profile`, of `a.` it is `.`.
    const extension = name.startsWith('.') && !name.includes('.', 1) ? name : extname(name);
    return this.#types.get(extension) ?? this.#lower.get(extension.toLowerCase()) ?? '';
  }

  #addGlobs(content: string): void {
    for (const line of content.split('\n')) {
      const [weight = '', type = '', glob = ''] = line.split(':');
      if (weight === '' || weight.startsWith('#') || glob.length < 3 || !glob.startsWith('*.')) continue;
      const extension = glob.slice(1);
      // The heaviest comes first; patterns with more than an extension are not for us.
      if (!/[?*[]/.test(extension) && !this.#types.has(extension)) this.#set(extension, type);
    }
  }

  #addList(content: string): void {
    for (const line of content.split('\n')) {
      const [type = '', ...extensions] = line.split(/\s+/).filter((field) => field !== '');
      if (type === '' || type.startsWith('#')) continue;
      for (const extension of extensions) {
        if (extension.startsWith('#')) break;
        this.#set(`.${extension}`, type);
      }
    }
  }

  #set(extension: string, type: string): void {
    const full = type.startsWith('text/') && !type.includes('charset=') ? `${type}; charset=utf-8` : type;
    this.#types.set(extension, full);
    this.#lower.set(extension.toLowerCase(), full);
  }
}

function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
