import { nearestWord } from '../../openehr/base/nearest-word.js';
import { PERMISSIONS, type Permission, type RolePermissions } from '../../config/permission.js';

/** What `ROLE_PERMISSIONS` says, and what is wrong with it: one line each, empty when nothing is. */
export interface ReadRolePermissions {
  readonly roles: RolePermissions;
  readonly problems: readonly string[];
}

/** Roles that exist unless `ROLE_PERMISSIONS` says otherwise; USER and ADMIN under the names that the settings give them. */
export function defaultRolePermissions(roleUser: string, roleAdmin: string): string {
  return `${roleUser}=read,write,define;${roleAdmin}=*;AUDITOR=audit;READER=read`;
}

/** Reads `ROLE=permission,permission;ROLE=*`; a role that is named twice has the permissions of both. */
export function readRolePermissions(text: string): ReadRolePermissions {
  const roles: Record<string, readonly Permission[]> = {};
  const problems: string[] = [];
  for (const entry of wordsOf(text, ';')) {
    const [name = '', list, ...rest] = entry.split('=');
    const role = name.trim().toUpperCase();
    if (role === '' || list === undefined || rest.length > 0) {
      problems.push(`ROLE_PERMISSIONS: ${entry} is not of the form ROLE=read,write`);
      continue;
    }
    const words = wordsOf(list, ',');
    const unknown = words.filter((word) => word !== '*' && !isPermission(word));
    problems.push(...unknown.map(unknownPermission));
    const granted = words.includes('*') ? PERMISSIONS : words.filter(isPermission);
    roles[role] = [...new Set([...(roles[role] ?? []), ...granted])];
  }
  if (Object.keys(roles).length === 0 && problems.length === 0)
    problems.push('ROLE_PERMISSIONS names no role');
  return { roles, problems };
}

/** All permissions of these upper-cased roles; unknown roles have none. */
export function permissionsOf(
  rolePermissions: RolePermissions,
  roles: readonly string[],
): ReadonlySet<Permission> {
  return new Set(
    roles.flatMap((role) => (Object.hasOwn(rolePermissions, role) ? (rolePermissions[role] ?? []) : [])),
  );
}

function wordsOf(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((word) => word.trim())
    .filter((word) => word !== '');
}

function isPermission(word: string): word is Permission {
  return PERMISSIONS.some((permission) => permission === word);
}

function unknownPermission(word: string): string {
  const meant = nearestWord(word, PERMISSIONS);
  const question = meant === null ? '.' : `, did you mean ${meant}?`;
  return `ROLE_PERMISSIONS: ${word} is no permission${question} There are ${PERMISSIONS.join(', ')} and * for all`;
}
