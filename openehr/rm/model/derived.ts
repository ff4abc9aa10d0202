import { isKindOf } from './classes.js';

/**
 * Functions of the reference model that Archie, and EHRbase with it, writes beside the attributes, in its own names and
 * in snake_case. They follow from the attributes or from where the object stands, so they are dropped unread.
 */
const DERIVED: readonly { readonly type: string; readonly members: readonly string[] }[] = [
  {
    type: 'ARCHETYPE_ID',
    members: [
      'qualifiedRmEntity',
      'domainConcept',
      'rmOriginator',
      'rmName',
      'rmEntity',
      'specialisation',
      'versionId',
      'namespace',
    ],
  },
  { type: 'DV_PROPORTION', members: ['isIntegral'] },
  { type: 'PATHABLE', members: ['path'] },
  { type: 'VERSION', members: ['branch', 'isBranch'] },
];

/** Whether a member that is no attribute of the class is a function of it (docs/spec/formats.md#derived-members). */
export function isDerivedMember(className: string, name: string): boolean {
  return DERIVED.some(
    ({ type, members }) =>
      members.some((member) => name === member || name === snakeCase(member)) && isKindOf(className, type),
  );
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
