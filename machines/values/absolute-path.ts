/** `path` from the root, in its shortest form: no empty, `.` or `..` parts (Go's `filepath.Clean("/" + path)`). */
export function absolutePath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}
