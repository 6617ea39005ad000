import { simErrors } from '../../machines/errors/sim-errors.ts';
import { checkDocument, readDocument } from './checked-document.ts';
import type { DocumentKind } from './checked-document.ts';
import { scriptSchema } from './script.ts';
import type { SimPlan } from './script.ts';

const SCRIPT: DocumentKind<SimPlan> = {
  schema: scriptSchema,
  errors: {
    unreadable: simErrors.scriptUnreadable,
    syntax: simErrors.scriptSyntax,
    invalid: simErrors.scriptInvalid,
  },
  whole: 'the script',
};

/** Reads and checks a YAML or JSON script. Throws SIM001, SIM002 or SIM003, which names every wrong field. */
export function readScript(file: string): SimPlan {
  return readDocument(SCRIPT, file);
}

/** Checks a script given as a value. Throws SIM003. */
export function checkScript(value: unknown, name = '(given as a value)'): SimPlan {
  return checkDocument(SCRIPT, value, name);
}
