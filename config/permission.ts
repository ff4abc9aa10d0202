/** Everything that a role can allow, in the order of the documentation. */
export const PERMISSIONS = ['read', 'write', 'define', 'audit', 'admin', 'commit_for_others'] as const;

/**
 * What a user may do: read and write clinical data, define templates and stored queries, see who did what,
 * administrate, name somebody else as committer.
 */
export type Permission = (typeof PERMISSIONS)[number];

/** Permissions by upper-cased name of the role. */
export type RolePermissions = Readonly<Record<string, readonly Permission[]>>;
