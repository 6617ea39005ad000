import type { Dirent } from 'node:fs';

const htmlEscapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' };

/** The page of a folder, as Go's file server makes it. */
export function directoryList(entries: readonly Pick<Dirent, 'name' | 'isDirectory'>[]): string {
  const names = entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  // Sorted without the slash, by bytes.
  names.sort((a, b) => Buffer.compare(Buffer.from(a.replace(/\/$/, '')), Buffer.from(b.replace(/\/$/, ''))));
  const lines = names.map((name) => {
    const shown = name.replace(/[&<>"']/g, (char) => htmlEscapes[char] ?? char);
    return `<a href="${pathUrl(name)}">${shown}</a>\n`;
  });
  return `<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n${lines.join('')}</pre>\n`;
}

/** A file name as relative URL, as Go's `url.URL{Path: name}` writes it. */
function pathUrl(name: string): string {
  if (name === '*') return name;
  const escaped = encodeURIComponent(name.toWellFormed())
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replace(/%(?:24|26|2B|2C|2F|3A|3B|3D|40)/g, decodeURIComponent);
  // A colon before any slash would read as a scheme.
  return /^[^/]*:/.test(escaped) ? `./${escaped}` : escaped;
}
