import { errorAreas } from '../../machines/errors/registry.ts';
import type { ErrorArea } from '../../machines/errors/registry.ts';

/**
 * The text of docs/errors.md, from the tables in machines/errors/. `npm run errors-doc` writes it; a test compares.
 * Ends with a newline.
 */
export function errorsDoc(areas: readonly ErrorArea[] = errorAreas): string {
  const sections = areas.map(({ title, errors }) => {
    const sorted = Object.values(errors).sort((a, b) => (a.code < b.code ? -1 : 1));
    const rows = sorted.map(({ code, message, cure }) => `| ${code} | ${cell(message)} | ${cell(cure)} |`);
    return [`## ${title}`, '', '| Code | What it says | What to do |', '|---|---|---|', ...rows, ''].join('\n');
  });
  return [
    '# Errors',
    '',
    'Every error that actorlet shows has a code, says what is wrong and what to do. Words in `{braces}` are filled in.',
    'This file is generated from `machines/errors/` (`npm run errors-doc`); a code never changes its meaning.',
    '',
    ...sections,
  ].join('\n');
}

/** Markdown would end a cell at `|`, and take `<name>` for HTML and `*` for emphasis. */
function cell(text: string): string {
  return text.replace(/[|*_<>]/g, (char) => `\\${char}`).replace(/\s+/g, ' ');
}

if (import.meta.main) process.stdout.write(errorsDoc());
