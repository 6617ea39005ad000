import { checkDocument, readDocument } from '../../../../cri/sim/checked-document.ts';
import type { DocumentKind } from '../../../../cri/sim/checked-document.ts';
import { nodesErrors } from '../../../../machines/errors/nodes-errors.ts';
import { profileSchema } from './profile-schema.ts';
import type { Profile } from './profile-schema.ts';

const PROFILE: DocumentKind<Profile> = {
  schema: profileSchema,
  errors: {
    unreadable: nodesErrors.profileUnreadable,
    syntax: nodesErrors.profileSyntax,
    invalid: nodesErrors.profileInvalid,
  },
  whole: 'the profile',
};

/** Reads and checks a YAML or JSON profile. Throws NDS001, NDS002 or NDS003, which names every wrong field. */
export function readProfile(file: string): Profile {
  return readDocument(PROFILE, file);
}

/** Checks a profile given as a value. Throws NDS003. */
export function checkProfile(value: unknown, name = '(given as a value)'): Profile {
  return checkDocument(PROFILE, value, name);
}
