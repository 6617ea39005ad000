import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { errorsDoc } from '../../../bin/commands/errors-doc.ts';
import { allErrors } from '../../../machines/errors/registry.ts';

const checkout = join(import.meta.dirname, '..', '..', '..');
const tables = join(checkout, 'machines', 'errors');

describe('the registry of errors', () => {
  it('holds every table of machines/errors/', async () => {
    const files = readdirSync(tables).filter((name) => name.endsWith('-errors.ts'));
    assert.ok(files.length > 3);
    const registered = new Set(allErrors);
    for (const file of files) {
      const module = (await import(pathToFileURL(join(tables, file)).href)) as Record<string, unknown>;
      const specs = Object.values(module)
        .filter((value) => typeof value === 'object' && value !== null)
        .flatMap((table) => Object.values(table as object) as unknown[])
        .filter((value) => typeof value === 'object' && value !== null && 'code' in value && 'cure' in value);
      assert.ok(specs.length > 0, `${file} defines no errors`);
      const missing = specs.filter((spec) => !(registered as Set<unknown>).has(spec));
      assert.deepEqual(missing, [], `${file} is not in registry.ts`);
    }
  });

  it('gives each code once', () => {
    const seen = new Map<string, string>();
    for (const { code, message } of allErrors) {
      assert.equal(seen.get(code), undefined, `${code} is used twice: "${seen.get(code)}" and "${message}"`);
      seen.set(code, message);
    }
  });

  it('has a code of a few letters and three digits, a message and a cure for each', () => {
    for (const { code, message, cure } of allErrors) {
      assert.match(code, /^[A-Z]{3,5}\d{3}$/);
      assert.match(message, /[.:?!}]$/, `${code}: the message is a sentence`);
      assert.match(cure, /[.}]$/, `${code}: the cure is a sentence`);
    }
  });

  it('is what docs/errors.md says (npm run errors-doc)', () => {
    assert.equal(readFileSync(join(checkout, 'docs', 'errors.md'), 'utf8'), errorsDoc());
  });
});
